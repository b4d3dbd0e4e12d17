#include "alg/path_rule.h"

#include <limits>

#include "alg/routing.h"

namespace espalier {

namespace {

constexpr PathRule::State kGoneDown = 1;

std::vector<std::size_t> levels_from_root(const Topology& topology) {
  constexpr std::size_t kUnreached = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> level(topology.num_vertices(), kUnreached);
  std::vector<NodeId> queue{NodeId(0)};
  level[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId v = queue[head];
    for (const LinkId link : topology.out_links(v)) {
      const NodeId next = topology.link(link).to;
      if (level[next.index()] != kUnreached) continue;
      level[next.index()] = level[v.index()] + 1;
      queue.push_back(next);
    }
  }
  return level;
}

}  // namespace

PathRule::PathRule(const Topology& topology) {
  // The classes of a torus are for packets that pass routers of nodes; paths here do not.
  const bool by_class = !topology.grid() && vc_classes(topology) > 1;
  num_states_ = by_class ? vc_classes(topology) + 1 : 2;
  const auto level = by_class ? std::vector<std::size_t>() : levels_from_root(topology);
  kinds_.reserve(topology.num_links());
  for (const TopologyLink& link : topology.links()) {
    if (by_class) {
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
  switch (kinds_[link.index()]) {
    case Kind::neutral:
      return state;
    case Kind::between_switches:
      if (state + 1U == num_states_) return std::nullopt;
      return static_cast<State>(state + 1);
    case Kind::up:
      if (state == kGoneDown) return std::nullopt;
      return state;
    case Kind::down:
      return kGoneDown;
  }
  return std::nullopt;
}

}  // namespace espalier
