#include "sims/formats/topology_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "hw/topology/vertex_names.h"
#include "sims/point/limits.h"
#include "sims/text/nearest_name.h"
#include "sims/text/strict_map.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

ValueShape link_latency_shape() { return range_shape(1, kLongestLinkLatency, ValueType::time); }

ValueShape link_bandwidth_shape() {
  return range_shape(kSlowestLink, kFastestLink, ValueType::rate);
}

namespace {

constexpr std::uint64_t kMostParallelLinks = 64;
constexpr int kFarthest = 1'000'000;  // of a position

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Vertex names become parts of module names, statistics and waveform scopes.
bool is_identifier(const std::string& name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

class TopologyParser {
 public:
  TopologyParser(const TopologyFileContext& context, Diagnostics& diagnostics)
      : context_(context), diagnostics_(diagnostics) {}

  std::optional<Topology> parse(const std::string& file_name, const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    const auto root =
        load_yaml_map(text, source, "expected a mapping with the keys nodes, switches and links",
                      "for example 'nodes: [a, b]' and 'links: [{between: [a, b]}]'", diagnostics_);
    if (!root) return std::nullopt;
    check_keys(*root, "", {"name", "nodes", "switches", "links"}, diagnostics_);
    topology_.emplace(read_name(*root, file_name));
    read_vertices(*root, "nodes", {source, 1, 1});
    read_vertices(*root, "switches", {source, 1, 1});
    read_links(*root, {source, 1, 1});
    check_rates();
    if (diagnostics_.num_errors() == errors_before) check_positions(*root);
    if (diagnostics_.num_errors() == errors_before) check_connected();
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    return std::move(topology_);
  }

 private:
  std::string read_name(const ConfigNode& root, const std::string& file_name) {
    const ConfigEntry* entry = root.find("name");
    if (entry == nullptr) return file_name;
    ValueShape shape;
    shape.type = ValueType::text;
    const auto value = parse_value(entry->value, "name", shape, diagnostics_);
    return value ? value->text : file_name;
  }

  void read_vertices(const ConfigNode& root, const std::string& key, const Place& root_place) {
    const bool are_nodes = key == "nodes";
    const ConfigEntry* entry = root.find(key);
    if (entry == nullptr) {
      if (are_nodes)
        diagnostics_.error(root_place, "missing key 'nodes'", "for example nodes: [a, b]");
      return;
    }
    if (entry->value.kind != ConfigNode::Kind::list) {
      diagnostics_.error(entry->place, fmt::format("{}: expected a list of names", key),
                         fmt::format("for example {}: [a, b]", key));
      return;
    }
    const auto& items = entry->value.items;
    if (items.size() > kMostNodes) {
      diagnostics_.error(entry->place, fmt::format("{}: has too many names; allowed are at most {}",
                                                   key, kMostNodes));
      return;
    }
    for (const ConfigNode& item : items) read_vertex(item, key, are_nodes);
    if (are_nodes && items.size() < 2) {
      diagnostics_.error(entry->place, "a network needs at least 2 nodes");
    }
  }

  void read_vertex(const ConfigNode& entry, const std::string& key, bool is_node) {
    const bool has_fields = entry.kind == ConfigNode::Kind::map;
    if (has_fields) check_keys(entry, key, {"name", "at"}, diagnostics_);
    const ConfigEntry* name = has_fields ? entry.find("name") : nullptr;
    const ConfigEntry* at = has_fields ? entry.find("at") : nullptr;
    if (has_fields && name == nullptr) {
      diagnostics_.error(entry.place, fmt::format("{}: a name is missing", key),
                         "for example {name: a, at: [0, 1]}");
      return;
    }
    const ConfigNode& item = name != nullptr ? name->value : entry;
    if (item.kind != ConfigNode::Kind::scalar || !is_identifier(item.text)) {
      diagnostics_.error(item.place, fmt::format("{}: '{}' is not a valid name", key, item.text),
                         "write a letter, then letters, digits and underscores");
      return;
    }
    const bool is_twice = topology_->find_vertex(item.text).valid();
    // SystemC has one name for each module.
    std::vector<std::string> modules{item.text};
    if (is_node) modules.push_back(ni_name(item.text));
    for (const std::string& module : modules) {
      const auto [first, is_new] = modules_.emplace(module, item.place);
      if (is_new) continue;
      diagnostics_.error(
          item.place,
          is_twice ? fmt::format("{}: the name '{}' is given twice", key, item.text)
                   : fmt::format("{}: '{}' would get a module named '{}', and there is one already",
                                 key, item.text, module),
          fmt::format("the first is in line {}", first->second.line));
      if (is_twice) return;
    }
    if (is_node) {
      topology_->add_node(item.text);
    } else {
      topology_->add_switch(item.text);
    }
    vertex_names_.push_back(item.text);
    if (at != nullptr) read_position(*at);
  }

  void read_position(const ConfigEntry& at) {
    Position position;
    const std::array<double*, 3> parts{&position.x, &position.y, &position.z};
    const std::vector<ConfigNode>& items = at.value.items;
    bool good = items.size() == 2 || items.size() == 3;
    for (std::size_t i = 0; good && i < items.size(); ++i) {
      const std::string& text = items[i].text;
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), *parts.at(i));
      good = items[i].kind == ConfigNode::Kind::scalar && error == std::errc() &&
             end == text.data() + text.size() && std::abs(*parts.at(i)) <= kFarthest;
    }
    positions_.push_back(position);
    if (!good) {
      diagnostics_.error(
          at.value.kind == ConfigNode::Kind::null ? at.place : at.value.place,
          fmt::format("at: expected [x, y] or [x, y, layer], numbers from -{0} to {0}", kFarthest),
          "for example at: [0, 1.5]");
      return;
    }
    const std::string& name = vertex_names_.back();
    const auto [first, is_new] =
        names_at_.emplace(std::tuple(position.z, position.y, position.x), name);
    if (!is_new) {
      diagnostics_.error(at.place,
                         fmt::format("'{}' stands where '{}' stands", name, first->second));
    }
  }

  void check_positions(const ConfigNode& root) {
    NetworkShape shape;
    shape.at = positions_;
    if (positions_.size() == topology_->num_vertices())
      return topology_->set_shape(std::move(shape));
    if (positions_.empty()) return;
    diagnostics_.error(root.place,
                       fmt::format("{} of {} nodes and switches have a position", positions_.size(),
                                   topology_->num_vertices()),
                       "give all of them an 'at', or none");
  }

  void read_links(const ConfigNode& root, const Place& root_place) {
    const ConfigEntry* entry = root.find("links");
    if (entry == nullptr) {
      diagnostics_.error(root_place, "missing key 'links'",
                         "for example links: [{between: [a, b]}]");
      return;
    }
    if (entry->value.kind != ConfigNode::Kind::list) {
      diagnostics_.error(entry->place, "links: expected a list of links",
                         "for example links: [{between: [a, b]}]");
      return;
    }
    for (const ConfigNode& item : entry->value.items) read_link(item);
  }

  void read_link(const ConfigNode& item) {
    if (item.kind != ConfigNode::Kind::map) {
      diagnostics_.error(item.place, "expected a link, which is a mapping",
                         "write {between: [a, b]} for both directions, {from: a, to: b} for one");
      return;
    }
    check_keys(item, "", {"between", "from", "to", "latency", "bandwidth", "count"}, diagnostics_);
    const std::size_t errors_before = diagnostics_.num_errors();
    const LinkSpec spec = read_spec(item);
    const auto count = read_number(item, "count", range_shape(1, kMostParallelLinks), 1);
    const auto ends = read_ends(item);
    if (!ends || diagnostics_.num_errors() != errors_before) return;
    const auto& [a, b] = *ends;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!add_link(a, b, spec, item.place)) return;
      if (item.find("between") != nullptr && !add_link(b, a, spec, item.place)) return;
    }
  }

  std::uint64_t read_number(const ConfigNode& item, const std::string& key, const ValueShape& shape,
                            std::uint64_t default_number) {
    const ConfigEntry* entry = item.find(key);
    if (entry == nullptr) return default_number;
    ConfigNode node = entry->value;
    if (node.kind == ConfigNode::Kind::null) node.place = entry->place;
    const auto value = parse_value(node, key, shape, diagnostics_);
    return value ? value->number : default_number;
  }

  LinkSpec read_spec(const ConfigNode& item) {
    LinkSpec spec = context_.default_link;
    const std::size_t errors_before = diagnostics_.num_errors();
    spec.latency_ps = read_number(item, "latency", link_latency_shape(), spec.latency_ps);
    spec.bytes_per_second =
        read_number(item, "bandwidth", link_bandwidth_shape(), spec.bytes_per_second);
    if (!context_.clock || diagnostics_.num_errors() != errors_before) return spec;
    // Default values are checked at their own places.
    if (const ConfigEntry* latency = item.find("latency")) {
      check_whole_cycles("a latency", spec.latency_ps, *context_.clock, latency->value.place,
                         diagnostics_);
    }
    if (const ConfigEntry* bandwidth = item.find("bandwidth")) {
      rates_.push_back({spec.bytes_per_second, bandwidth->value.place});
    }
    return spec;
  }

  // All links at once: the proposed flit must be wide enough for the fastest one.
  void check_rates() {
    if (!context_.clock) return;
    LinkRateRule rule{*context_.clock, context_.flow_control,
                      context_.default_link.bytes_per_second};
    for (const auto& [rate, place] : rates_) rule.fastest = std::max(rule.fastest, rate);
    for (const auto& [rate, place] : rates_) check_link_rate(rate, rule, place, diagnostics_);
  }

  std::optional<std::pair<NodeId, NodeId>> read_ends(const ConfigNode& item) {
    const ConfigEntry* between = item.find("between");
    const ConfigEntry* from = item.find("from");
    const ConfigEntry* to = item.find("to");
    const bool duplex = between != nullptr && from == nullptr && to == nullptr;
    const bool one_way = between == nullptr && from != nullptr && to != nullptr;
    if (!duplex && !one_way) {
      diagnostics_.error(item.place, "a link has either 'between', or 'from' and 'to'",
                         "write {between: [a, b]} for both directions, {from: a, to: b} for one");
      return std::nullopt;
    }
    if (duplex &&
        (between->value.kind != ConfigNode::Kind::list || between->value.items.size() != 2)) {
      diagnostics_.error(between->value.place, "between: expected the names of two vertices",
                         "for example between: [a, b]");
      return std::nullopt;
    }
    const ConfigNode& second = duplex ? between->value.items[1] : to->value;
    const auto a = find_vertex(duplex ? between->value.items[0] : from->value, item.place);
    const auto b = find_vertex(second, item.place);
    if (!a || !b) return std::nullopt;
    if (*a == *b) {
      diagnostics_.error(second.place, fmt::format("a link joins '{}' to itself", second.text));
      return std::nullopt;
    }
    return std::make_pair(*a, *b);
  }

  std::optional<NodeId> find_vertex(const ConfigNode& node, const Place& link_place) {
    const NodeId vertex =
        node.kind == ConfigNode::Kind::scalar ? topology_->find_vertex(node.text) : NodeId();
    if (vertex.valid()) return vertex;
    const std::string nearest = nearest_name(node.text, vertex_names_);
    diagnostics_.error(node.kind == ConfigNode::Kind::null ? link_place : node.place,
                       fmt::format("'{}' is neither a node nor a switch", node.text),
                       nearest.empty() ? std::string("list it under nodes or switches")
                                       : fmt::format("did you mean '{}'?", nearest));
    return std::nullopt;
  }

  bool add_link(NodeId from, NodeId to, const LinkSpec& spec, const Place& place) {
    if (topology_->num_links() == kMostLinks) {
      diagnostics_.error(
          place, fmt::format("the file has more than {} links, which is the limit", kMostLinks));
      return false;
    }
    const std::size_t index = parallel_links_[{from, to}]++;
    const std::string suffix = index == 0 ? "" : fmt::format("_{}", index);
    try {
      topology_->add_link(from, to, spec, "to_" + topology_->vertex_name(to) + suffix,
                          "from_" + topology_->vertex_name(from) + suffix);
    } catch (const std::invalid_argument& clash) {
      // Names may clash: the second parallel link to 'x' has the same port name as a link to 'x_1'.
      diagnostics_.error(place, clash.what(), "rename a vertex so that port names differ");
      return false;
    }
    return true;
  }

  void check_connected() {
    const NodeId lost = topology_->find_disconnected();
    if (!lost.valid()) return;
    const std::string& name = topology_->vertex_name(lost);
    diagnostics_.error(
        modules_.at(name),
        fmt::format("the network is not connected: there is no path from '{}' to '{}' and back",
                    topology_->vertex_name(NodeId(0)), name),
        fmt::format("add links to and from '{}'", name));
  }

  const TopologyFileContext& context_;
  std::vector<std::pair<std::uint64_t, Place>> rates_;  // of links with a bandwidth of their own
  Diagnostics& diagnostics_;
  std::optional<Topology> topology_;
  std::map<std::string, Place> modules_;   // by name: the vertex that they belong to
  std::vector<std::string> vertex_names_;  // in file order
  std::vector<Position> positions_;        // of those vertices that have one
  std::map<std::tuple<double, double, double>, std::string> names_at_;
  std::map<std::pair<NodeId, NodeId>, std::size_t> parallel_links_;
};

}  // namespace

std::optional<Topology> parse_topology(const std::string& file_name, const std::string& text,
                                       const TopologyFileContext& context,
                                       Diagnostics& diagnostics) {
  return TopologyParser(context, diagnostics).parse(file_name, text);
}

}  // namespace espalier
