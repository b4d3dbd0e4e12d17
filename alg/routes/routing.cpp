#include "alg/routes/routing.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "alg/routes/cluster_routes.h"
#include "alg/routes/data_center_routes.h"
#include "alg/routes/distances.h"
#include "alg/routes/grid_links.h"
#include "alg/routes/switched_routes.h"

namespace espalier {
namespace {

std::vector<LinkId> dimension_order_route(const Topology& topology, NodeId from, NodeId to) {
  const GridShape& grid = *topology.grid();
  const auto start = grid.coordinates(from);
  const auto end = grid.coordinates(to);
  std::vector<LinkId> route;
  NodeId at = from;
  for (std::size_t dim = 0; dim < grid.dims.size(); ++dim) {
    const std::uint32_t size = grid.dims[dim];
    const std::uint32_t up = (end[dim] + size - start[dim]) % size;
    const std::uint32_t down = (size - up) % size;
    const bool plus = grid.wraps ? up <= down : end[dim] > start[dim];
    for (std::uint32_t left = plus ? up : down; left > 0; --left) {
      route.push_back(grid_link(topology, at, dim, plus));
      at = topology.link(route.back()).to;
    }
  }
  return route;
}

// A packet that has gone down once must not go up again: that makes it two vertices per router.
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

  // Breadth first against the links, over (phase, vertex).
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

std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to) {
  if (from == to) throw std::invalid_argument("a route has two different ends");
  if (topology.grid()) return dimension_order_route(topology, from, to);
  if (topology.switched()) return switched_route(topology, from, to);
  if (topology.cluster()) return cluster_route(topology, from, to, 0);
  if (topology.data_center()) return data_center_route(topology, from, to);
  const LinkId direct = topology.link_between(from, to);
  if (direct.valid()) return {direct};
  return UpDownRouter(topology).route(from, to);
}

}  // namespace espalier
