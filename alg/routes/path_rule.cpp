#include "alg/routes/path_rule.h"

#include <algorithm>

#include "alg/routes/links.h"

namespace espalier {

namespace {

// The path has gone down, or has used its single link between switches.
constexpr PathRule::State kTurned = 1;

bool every_switch_has_nodes(const Topology& topology) {
  for (std::size_t v = topology.num_nodes(); v < topology.num_vertices(); ++v) {
    const auto& out = topology.out_links(NodeId(v));
    const bool has_node = std::any_of(out.begin(), out.end(), [&](LinkId l) {
      const NodeId to = topology.link(l).to;
      return !topology.is_switch(to) && topology.link_between(to, NodeId(v)).valid();
    });
    if (!has_node) return false;
  }
  return true;
}

// Levels counted from the core switches, which have level 0.
std::vector<std::size_t> data_center_levels(const Topology& topology) {
  const DataCenterShape& shape = *topology.data_center();
  std::vector<std::size_t> level(topology.num_vertices(), 0);
  const auto first_core = topology.aggregation_switch(shape.pods, 0).index();
  for (std::size_t v = 0; v < first_core; ++v) {
    const NodeId vertex(v);
    level[v] = topology.is_tor(vertex) ? 2 : topology.is_switch(vertex) ? 1 : 3;
  }
  return level;
}

// The distance of every vertex from the root at which paths turn.
std::vector<std::size_t> levels(const Topology& topology) {
  if (topology.data_center()) return data_center_levels(topology);
  if (!topology.cluster()) return distances_from(topology, NodeId(0));
  std::vector<std::size_t> level(topology.num_vertices(), 1);
  std::fill_n(level.begin(), topology.num_nodes(), 2);
  if (topology.cluster()->servers > 1) level[topology.fabric().index()] = 0;
  return level;
}

}  // namespace

PathRule::PathRule(const Topology& topology) {
  const bool by_neighbours = every_switch_has_nodes(topology);
  const auto level = by_neighbours ? std::vector<std::size_t>() : levels(topology);
  kinds_.reserve(topology.num_links());
  for (const TopologyLink& link : topology.links()) {
    if (by_neighbours) {
      const bool inner = topology.is_switch(link.from) && topology.is_switch(link.to);
      kinds_.push_back(inner ? Kind::between_switches : Kind::neutral);
      continue;
    }
    const std::size_t before = level[link.from.index()];
    const std::size_t behind = level[link.to.index()];
    const bool up = behind < before || (behind == before && link.to < link.from);
    kinds_.push_back(up ? Kind::up : Kind::down);
  }
}

std::optional<PathRule::State> PathRule::after(State state, LinkId link) const {
  const Kind kind = kinds_[link.index()];
  const bool once = kind == Kind::between_switches || kind == Kind::up;
  if (once && state == kTurned) return std::nullopt;
  return kind == Kind::between_switches || kind == Kind::down ? kTurned : state;
}

}  // namespace espalier
