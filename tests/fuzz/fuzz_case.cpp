#include "fuzz_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sims/config/resolved.h"
#include "sims/formats/rank_order_file.h"
#include "sims/formats/topology_file.h"
#include "sims/model/build_topology.h"
#include "sims/text/diagnostics.h"
#include "sims/text/units.h"
#include "tests/support/resolved_yaml.h"

namespace espalier::fuzz {

namespace {

std::string vertex_name(const Graph& graph, std::size_t vertex) {
  return vertex < graph.nodes ? fmt::format("n{}", vertex)
                              : fmt::format("s{}", vertex - graph.nodes);
}

std::string names(const Graph& graph, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t v = begin; v < end; ++v) {
    text += (v == begin ? "" : ", ") + vertex_name(graph, v);
  }
  return text;
}

std::string link_line(const std::string& from, const std::string& to, const LinkSpec& link) {
  return fmt::format("  - {{from: {}, to: {}, latency: {}, bandwidth: {}}}\n", from, to,
                     format_quantity(Quantity::time, link.latency_ps),
                     format_quantity(Quantity::rate, link.bytes_per_second));
}

std::string topology_text(const Graph& graph) {
  std::string text = fmt::format("name: fuzz\nnodes: [{}]\n", names(graph, 0, graph.nodes));
  if (graph.switches != 0) {
    text += fmt::format("switches: [{}]\n", names(graph, graph.nodes, graph.vertices()));
  }
  text += "links:\n";
  for (const Edge& edge : graph.edges) {
    const std::string a = vertex_name(graph, edge.a);
    const std::string b = vertex_name(graph, edge.b);
    text += link_line(a, b, edge.there) + link_line(b, a, edge.back);
  }
  return text;
}

std::string messages_text(const std::vector<TrafficMessage>& messages) {
  std::string text = "ready,from,to,bytes\n";
  for (const TrafficMessage& m : messages) {
    text += fmt::format("{},{},{},{}\n", m.ready, m.from.index(), m.to.index(), m.bytes);
  }
  return text;
}

std::string as_comment(const std::string& remark) {
  std::istringstream lines(remark);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
  return text;
}

}  // namespace

std::vector<CaseFile> files_of(const FuzzCase& fuzz_case, const std::string& remark) {
  RunPoint point = fuzz_case.point;
  std::vector<CaseFile> files;
  if (fuzz_case.graph) {
    point.system.topology.file = kTopologyName;
    files.push_back({kTopologyName, topology_text(*fuzz_case.graph)});
  }
  if (point.traffic && point.traffic->pattern == TrafficPattern::file) {
    point.traffic->file = kMessagesName;
    files.push_back({kMessagesName, messages_text(point.traffic->messages)});
  }
  if (point.collective) {
    // A case that is tried while another one shrinks may describe no network.
    fit_collective(*point.collective,
                   fuzz_case.graph ? fuzz_case.graph->nodes : topology_of(fuzz_case).num_nodes());
  }
  files.insert(files.begin(), {kConfigName, as_comment(remark) + resolved_yaml(point)});
  return files;
}

void write_files(const std::filesystem::path& folder, const std::vector<CaseFile>& files) {
  std::filesystem::create_directories(folder);
  for (const CaseFile& file : files) {
    std::ofstream out(folder / file.name, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) throw std::runtime_error((folder / file.name).string() + " cannot be written");
  }
}

Topology topology_of(const FuzzCase& fuzz_case) {
  const SystemConfig& system = fuzz_case.point.system;
  if (!fuzz_case.graph) return build_topology(system);
  Diagnostics diagnostics;
  auto topology = parse_topology(kTopologyName, topology_text(*fuzz_case.graph),
                                 {system.link, system.clock, system.flow_control}, diagnostics);
  if (!topology || !finish_network(*topology, system, {}, diagnostics)) {
    throw std::invalid_argument(diagnostics.text());
  }
  return std::move(*topology);
}

void fit_collective(CollectiveConfig& collective, std::size_t nodes) {
  const auto fit = [nodes](std::vector<std::uint32_t>& ranks) {
    ranks.erase(std::remove_if(ranks.begin(), ranks.end(),
                               [nodes](std::uint32_t node) { return node >= nodes; }),
                ranks.end());
    if (ranks.size() < 2) ranks.clear();
  };
  auto& ranks = collective.ranks;
  fit(ranks);
  auto& groups = collective.groups;
  for (GroupConfig& group : groups) fit(group.ranks);
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [](const GroupConfig& group) { return group.ranks.empty(); }),
               groups.end());
  if (groups.size() == 1) groups.clear();
  const std::size_t count = ranks.empty() ? nodes : ranks.size();
  collective.root = std::min(collective.root, static_cast<std::uint32_t>(count - 1));
  collective.counts.weights.clear();
  if (!has_counts(collective.op)) return;
  Diagnostics diagnostics;
  const std::size_t lines = num_counts(collective.op, count) / count;
  collective.counts.weights = *load_weights(collective.counts, count, lines, Place{}, diagnostics);
}

}  // namespace espalier::fuzz
