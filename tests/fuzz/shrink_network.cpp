// Steps that make the network smaller and its links simpler.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "shrink_steps.h"

namespace espalier::fuzz {

namespace {

constexpr std::uint64_t kOneCycle = 1000;  // picoseconds at the clock of all cases

// Numbers above `gone` move down by one.
std::size_t renumbered(std::size_t vertex, std::size_t gone) {
  return vertex > gone ? vertex - 1 : vertex;
}

FuzzCase without_vertex(FuzzCase fuzz_case, std::size_t gone) {
  Graph& graph = *fuzz_case.graph;
  auto& edges = graph.edges;
  const auto touches = [gone](const Edge& edge) { return edge.a == gone || edge.b == gone; };
  edges.erase(std::remove_if(edges.begin(), edges.end(), touches), edges.end());
  for (Edge& edge : edges) {
    edge.a = renumbered(edge.a, gone);
    edge.b = renumbered(edge.b, gone);
  }
  --(gone < graph.nodes ? graph.nodes : graph.switches);
  if (fuzz_case.point.traffic) {
    auto& messages = fuzz_case.point.traffic->messages;
    const auto lost = [gone](const TrafficMessage& message) {
      return message.from.index() == gone || message.to.index() == gone;
    };
    messages.erase(std::remove_if(messages.begin(), messages.end(), lost), messages.end());
    for (TrafficMessage& message : messages) {
      message.from = NodeId(renumbered(message.from.index(), gone));
      message.to = NodeId(renumbered(message.to.index(), gone));
    }
  }
  return fuzz_case;
}

// Nodes that are cut off move to the edge that is left.
FuzzCase with_shorter_side(FuzzCase fuzz_case, std::size_t side) {
  TopologyConfig& topology = fuzz_case.point.system.topology;
  GridShape before;
  for (const std::uint64_t size : topology.numbers("dims")) {
    before.dims.push_back(static_cast<std::uint32_t>(size));
  }
  GridShape after = before;
  --after.dims[side];
  topology.set("dims", {after.dims.begin(), after.dims.end()});
  if (!fuzz_case.point.traffic) return fuzz_case;
  const auto moved = [&](NodeId node) {
    auto at = before.coordinates(node);
    at[side] = std::min(at[side], after.dims[side] - 1);
    return after.node_at(at);
  };
  std::vector<TrafficMessage> kept;
  for (TrafficMessage message : fuzz_case.point.traffic->messages) {
    message.from = moved(message.from);
    message.to = moved(message.to);
    if (message.from != message.to) kept.push_back(message);
  }
  fuzz_case.point.traffic->messages = kept;
  return fuzz_case;
}

std::vector<std::string> counts_of(const Family& family) {
  std::vector<std::string> counts;
  for (const FamilyKey& key : family.keys) {
    const bool is_one = key.entries == FamilyKey::Entries::one;
    if (key.kind == FamilyKey::Kind::count && is_one) counts.push_back(key.name);
  }
  return counts;
}

// Nodes beyond the last become the last.
FuzzCase with_smaller_count(FuzzCase fuzz_case, const std::string& count) {
  TopologyConfig& topology = fuzz_case.point.system.topology;
  const bool two_sides = topology.family().name == "bigraph" && count == "switches";
  topology.set(count, {topology.number(count) - (two_sides ? 2 : 1)});
  const NodeId last(topology_of(fuzz_case).num_nodes() - 1);
  if (!fuzz_case.point.traffic) return fuzz_case;
  std::vector<TrafficMessage> kept;
  for (TrafficMessage message : fuzz_case.point.traffic->messages) {
    message.from = std::min(message.from, last);
    message.to = std::min(message.to, last);
    if (message.from != message.to) kept.push_back(message);
  }
  fuzz_case.point.traffic->messages = kept;
  return fuzz_case;
}

// The same network as a graph, which can lose any part; routes and VC classes are others.
FuzzCase as_graph(FuzzCase fuzz_case) {
  const Topology topology = topology_of(fuzz_case);
  Graph graph;
  graph.nodes = topology.num_nodes();
  graph.switches = topology.num_switches();
  for (const TopologyLink& link : topology.links()) {
    if (link.from < link.to) {
      graph.edges.push_back({link.from.index(), link.to.index(), link.spec, link.spec});
    }
  }
  fuzz_case.graph = graph;
  fuzz_case.point.system.topology = {};
  fuzz_case.point.system.topology.type = "file";
  return fuzz_case;
}

// A network of one node, or of parts without a way between them, cannot be built.
bool has_network(const FuzzCase& fuzz_case) {
  try {
    return topology_of(fuzz_case).num_nodes() > 1;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::vector<FuzzCase> smaller_networks(const FuzzCase& from) {
  std::vector<FuzzCase> cases;
  if (!from.graph) {
    const TopologyConfig& topology = from.point.system.topology;
    const auto dims = topology.numbers("dims");
    for (std::size_t side = 0; side < dims.size(); ++side) {
      if (dims[side] > 1) cases.push_back(with_shorter_side(from, side));
    }
    for (const FamilyKey& key : topology.family().keys) {
      if (key.entries == FamilyKey::Entries::one || key.required) continue;
      if (topology.numbers(key.name).empty()) continue;
      cases.push_back(from);
      cases.back().point.system.topology.set(key.name, {});
    }
    const auto counts = counts_of(topology.family());
    for (const std::string& count : counts) {
      if (topology.number(count) == 1) continue;
      try {
        cases.push_back(with_smaller_count(from, count));
      } catch (const std::invalid_argument&) {
        // Too small for a network of its type.
      }
    }
    if (!counts.empty()) cases.push_back(as_graph(from));
    return cases;
  }
  for (std::size_t vertex = from.graph->vertices(); vertex-- > 0;) {
    if (from.graph->vertices() > 2) cases.push_back(without_vertex(from, vertex));
  }
  for (std::size_t edge = 0; edge < from.graph->edges.size(); ++edge) {
    cases.push_back(from);
    auto& edges = cases.back().graph->edges;
    edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(edge));
  }
  return cases;
}

}  // namespace

std::vector<FuzzCase> with_smaller_network(const FuzzCase& from) {
  std::vector<FuzzCase> cases;
  for (FuzzCase& smaller : smaller_networks(from)) {
    if (has_network(smaller)) cases.push_back(std::move(smaller));
  }
  return cases;
}

std::vector<FuzzCase> with_simpler_links(const FuzzCase& from) {
  std::vector<FuzzCase> cases;
  if (!from.graph) return cases;
  const ClockSpec& clock = from.point.system.clock;
  const std::uint64_t full_rate = clock.hertz * clock.flit_bytes;
  const auto try_spec = [&](std::size_t edge, LinkSpec Edge::*way, const LinkSpec& simpler) {
    const LinkSpec& now = from.graph->edges[edge].*way;
    if (now.latency_ps == simpler.latency_ps && now.bytes_per_second == simpler.bytes_per_second) {
      return;
    }
    cases.push_back(from);
    cases.back().graph->edges[edge].*way = simpler;
  };
  for (std::size_t edge = 0; edge < from.graph->edges.size(); ++edge) {
    for (LinkSpec Edge::*way : {&Edge::there, &Edge::back}) {
      const LinkSpec& now = from.graph->edges[edge].*way;
      const std::uint64_t half = now.latency_ps / kOneCycle / 2 * kOneCycle;
      try_spec(edge, way, {kOneCycle, full_rate});
      try_spec(edge, way, {now.latency_ps, full_rate});
      try_spec(edge, way, {kOneCycle, now.bytes_per_second});
      if (half != 0) try_spec(edge, way, {half, now.bytes_per_second});
    }
  }
  return cases;
}

}  // namespace espalier::fuzz
