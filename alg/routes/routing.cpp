#include "alg/routes/routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "alg/routes/links.h"

namespace espalier {

namespace {

// A packet that has gone down must not go up again, so a router is two vertices of the search.
enum Phase : std::uint8_t { may_go_up, only_down };

class UpDownRouter {
 public:
  explicit UpDownRouter(const Topology& topology)
      : topology_(topology), level_(distances_from(topology, NodeId(0))) {}

  [[nodiscard]] std::vector<LinkId> route(NodeId from, NodeId to) const {
    const auto distance = distances_to(to);
    std::vector<LinkId> links;
    NodeId at = from;
    Phase phase = may_go_up;
    if (distance[may_go_up][from.index()] == kUnreached) {
      throw std::invalid_argument(fmt::format(
          "there is no up*/down* route from '{}' to '{}': the network has links without a link "
          "back",
          topology_.vertex_name(from), topology_.vertex_name(to)));
    }
    while (at != to) {
      const std::size_t left = distance[phase][at.index()];
      for (const LinkId link : topology_.out_links(at)) {
        const bool up = goes_up(link);
        if (up && phase == only_down) continue;
        const Phase then = up ? may_go_up : only_down;
        const NodeId next = topology_.link(link).to;
        if (distance[then][next.index()] == kUnreached ||
            distance[then][next.index()] + 1 != left) {
          continue;
        }
        links.push_back(link);
        at = next;
        phase = then;
        break;
      }
    }
    return links;
  }

 private:
  using Distances = std::array<std::vector<std::size_t>, 2>;

  [[nodiscard]] bool goes_up(LinkId link) const {
    const NodeId from = topology_.link(link).from;
    const NodeId to = topology_.link(link).to;
    const std::size_t before = level_[from.index()];
    const std::size_t after = level_[to.index()];
    return after < before || (after == before && to < from);
  }

  // Breadth-first search against the direction of links, over (phase, vertex).
  [[nodiscard]] Distances distances_to(NodeId to) const {
    struct State {
      Phase phase;
      NodeId vertex;
    };
    Distances distance;
    for (auto& of_phase : distance) of_phase.assign(topology_.num_vertices(), kUnreached);
    std::vector<State> queue{{may_go_up, to}, {only_down, to}};
    for (const State& s : queue) distance[s.phase][to.index()] = 0;
    const auto visit = [&](Phase phase, NodeId v, std::size_t hops) {
      if (distance[phase][v.index()] != kUnreached) return;
      distance[phase][v.index()] = hops;
      queue.push_back({phase, v});
    };
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const State at = queue[head];
      const std::size_t hops = distance[at.phase][at.vertex.index()] + 1;
      for (const LinkId link : topology_.in_links(at.vertex)) {
        const NodeId before = topology_.link(link).from;
        const bool up = goes_up(link);
        if ((at.phase == may_go_up) != up) continue;
        visit(may_go_up, before, hops);
        if (!up) visit(only_down, before, hops);
      }
    }
    return distance;
  }

  const Topology& topology_;
  std::vector<std::size_t> level_;
};

}  // namespace

std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to,
                                 std::uint32_t channel) {
  if (from == to) throw std::invalid_argument("a route has two different ends");
  if (topology.shape().route) return topology.shape().route(topology, from, to, channel);
  return up_down_route(topology, from, to);
}

std::vector<LinkId> up_down_route(const Topology& topology, NodeId from, NodeId to) {
  const LinkId direct = topology.link_between(from, to);
  if (direct.valid()) return {direct};
  return UpDownRouter(topology).route(from, to);
}

bool may_lack_routes(const Topology& topology) {
  if (topology.shape().route) return false;
  for (std::size_t l = 0; l < topology.links().size(); ++l) {
    if (!link_back(topology, LinkId(l)).valid()) return true;
  }
  return false;
}

std::string problem_of_route(const Topology& topology, NodeId from, NodeId to) {
  try {
    static_cast<void>(route_packet(topology, from, to));
    return {};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

namespace {

// Dimension order: hops in one dimension follow each other.
std::vector<std::uint32_t> dateline_classes(const Topology& topology,
                                            const RouteSet::Links& route) {
  std::vector<std::uint32_t> classes;
  std::size_t dim = 0;
  for (const LinkId link : route) {
    const GridHop hop = grid_hop(topology, link);
    const bool goes_on = !classes.empty() && hop.dim == dim;
    classes.push_back(hop.wraps || (goes_on && classes.back() == 1) ? 1 : 0);
    dim = hop.dim;
  }
  return classes;
}

// Classes never decrease along a route, so they cannot form a cycle.
std::vector<std::uint32_t> switch_hop_classes(const Topology& topology,
                                              const RouteSet::Links& route) {
  std::vector<std::uint32_t> classes;
  std::uint32_t between_switches = 0;
  for (const LinkId id : route) {
    const TopologyLink& link = topology.link(id);
    if (topology.is_switch(link.from) && topology.is_switch(link.to)) ++between_switches;
    const std::uint32_t counted = std::min(between_switches, topology.shape().vc_classes.all);
    classes.push_back(counted == 0 ? 0 : counted - 1);
  }
  return classes;
}

}  // namespace

std::uint32_t usable_vc_classes(const Topology& topology, std::uint32_t vcs) {
  return std::clamp(vcs, 1U, topology.shape().vc_classes.all);
}

std::vector<std::uint32_t> vc_classes_of(const Topology& topology, const RouteSet& routes,
                                         RouteId route) {
  const RouteSet::Links links = routes.links(route);
  if (topology.shape().vc_classes.all == 1) {
    return std::vector<std::uint32_t>(routes.hops(route), 0);
  }
  if (topology.shape().classes) {
    const auto chosen = topology.shape().classes(topology, {links.begin(), links.end()});
    if (chosen) return *chosen;
  }
  return topology.grid() ? dateline_classes(topology, links) : switch_hop_classes(topology, links);
}

}  // namespace espalier
