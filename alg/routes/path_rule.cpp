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

}  // namespace

PathRule::PathRule(const Topology& topology) {
  const bool by_neighbours = every_switch_has_nodes(topology);
  const auto& own = topology.shape().levels;
  const auto level = by_neighbours || !own.empty() ? own : distances_from(topology, NodeId(0));
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
