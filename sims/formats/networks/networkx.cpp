// Graphs that NetworkX writes: edge lists, node-link JSON, GraphML.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>

#include "sims/formats/networks/network_formats.h"
#include "sims/formats/program/xml_document.h"
#include "sims/text/text_lines.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

// An attribute of an edge, with the place of its value.
using Attributes = std::vector<std::pair<std::string, ConfigNode>>;

class GraphBuilder {
 public:
  GraphBuilder(DrawnNetwork& drawn, Diagnostics& diagnostics)
      : drawn_(drawn), diagnostics_(diagnostics) {}

  std::size_t vertex(const std::string& name) {
    const auto [found, is_new] = vertices_.emplace(name, drawn_.vertices.size());
    if (is_new) drawn_.add(name, "vertex", true);
    return found->second;
  }
  [[nodiscard]] bool knows(const std::string& name) const { return vertices_.count(name) != 0; }

  void edge(const std::string& a, const std::string& b, const Attributes& attributes, bool one_way,
            const Place& place) {
    DrawnLink link{vertex(a), vertex(b)};
    link.place = place;
    link.one_way = one_way;
    for (const auto& [name, value] : attributes) {
      if (name == "weight" || name == "capacity" || name == "bandwidth") {
        // As many GB/s; zero is no rate.
        link.bytes_per_second = std::max<std::uint64_t>(
            1, quantity_of(Quantity::rate, value.text, "GB/s", value.place, diagnostics_));
        link.assumed = name + " as GB/s";
      } else if (name == "latency") {
        link.latency_ps = std::max<std::uint64_t>(
            1, quantity_of(Quantity::time, value.text, "ns", value.place, diagnostics_));
      } else if (name != "key" && name != "id") {
        ignored_.insert(name);
      }
    }
    if (drawn_.links.size() <= kMostLinks) drawn_.links.push_back(std::move(link));
  }

  void end() {
    drawn_.notes.push_back("each vertex is an accelerator");
    if (!ignored_.empty()) {
      drawn_.notes.push_back(fmt::format("ignored of edges: {}", fmt::join(ignored_, ", ")));
    }
  }

 private:
  DrawnNetwork& drawn_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::size_t> vertices_;
  std::set<std::string> ignored_;
};

// "{'weight': 3, 'x': 1.5}" behind two vertices, in words; a plain number is the weight.
bool read_attributes(const std::vector<ConfigNode>& words, std::size_t at, Attributes& attributes) {
  if (at == words.size()) return true;
  if (words[at].text != "{") {
    attributes.emplace_back("weight", words[at]);
    return at + 1 == words.size();
  }
  while (++at < words.size() && words[at].text != "}") {
    if (words[at].text == ",") continue;
    if (at + 2 >= words.size() || words[at + 1].text != ":") return false;
    attributes.emplace_back(words[at].text, words[at + 2]);
    at += 2;
  }
  return at + 1 == words.size();
}

}  // namespace

void read_edge_list(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                    Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  GraphBuilder graph(drawn, diagnostics);
  for_each_line(text, drawn.source, diagnostics, [&](std::string_view line, const Place& place) {
    auto words = words_of(line.substr(0, line.find('#')), place, "{}:,'\"");
    words.erase(std::remove_if(
                    words.begin(), words.end(),
                    [](const ConfigNode& word) { return word.text == "'" || word.text == "\""; }),
                words.end());
    if (words.empty()) return true;
    Attributes attributes;
    if (words.size() < 2 || !read_attributes(words, 2, attributes)) {
      diagnostics.error(words[0].place, "expected two vertices and a weight or attributes",
                        "for example '0 1 25', or \"0 1 {'weight': 25}\"");
      return false;
    }
    graph.edge(words[0].text, words[1].text, attributes, false, words[0].place);
    return true;
  });
  graph.end();
}

void read_node_link(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                    Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  const auto root = load_yaml(text, drawn.source, diagnostics);
  if (!root) return;
  GraphBuilder graph(drawn, diagnostics);
  for (const ConfigNode& node : value_at(*root, "nodes").items) {
    const ConfigEntry* id = node.find("id");
    if (id == nullptr) diagnostics.error(node.place, "a node has no id");
    if (id != nullptr) graph.vertex(id->value.text);
  }
  const bool directed = root->find("directed")->value.text == "true";
  for (const char* key : {"links", "edges"}) {
    for (const ConfigNode& edge : value_at(*root, key).items) {
      const ConfigEntry* from = edge.find("source");
      const ConfigEntry* to = edge.find("target");
      if (from == nullptr || to == nullptr || !graph.knows(from->value.text) ||
          !graph.knows(to->value.text)) {
        diagnostics.error(edge.place, "an edge needs the source and target of two nodes");
        continue;
      }
      Attributes attributes;
      for (const ConfigEntry& entry : edge.entries) {
        if (entry.key != "source" && entry.key != "target") {
          attributes.emplace_back(entry.key, entry.value);
        }
      }
      graph.edge(from->value.text, to->value.text, attributes, directed, edge.place);
    }
  }
  graph.end();
}

void read_graphml(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                  Diagnostics& diagnostics) {
  const XmlSource source(file_name, text, diagnostics);
  drawn.source = source.index();
  const pugi::xml_node root = source.document().child("graphml");
  const pugi::xml_node body = root.child("graph");
  std::map<std::string, std::string> names;  // of attributes, by key
  for (const pugi::xml_node key : root.children("key")) {
    names[key.attribute("id").value()] = key.attribute("attr.name").value();
  }
  GraphBuilder graph(drawn, diagnostics);
  for (const pugi::xml_node node : body.children("node"))
    graph.vertex(node.attribute("id").value());
  const bool directed = std::string(body.attribute("edgedefault").value()) == "directed";
  for (const pugi::xml_node edge : body.children("edge")) {
    const std::string from = edge.attribute("source").value();
    const std::string to = edge.attribute("target").value();
    if (!graph.knows(from) || !graph.knows(to)) {
      diagnostics.error(source.place(edge.name()),
                        "an edge needs the source and target of two nodes");
      continue;
    }
    Attributes attributes;
    for (const pugi::xml_node data : edge.children("data")) {
      ConfigNode value;
      value.text = data.child_value();
      value.place = source.place(data.name());
      attributes.emplace_back(names[data.attribute("key").value()], value);
    }
    graph.edge(from, to, attributes, directed, source.place(edge.name()));
  }
  if (root) graph.end();
}

}  // namespace espalier
