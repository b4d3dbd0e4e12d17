#include "alg/routes/routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "alg/routes/links.h"
#include "alg/routes/planes.h"

namespace espalier {

namespace {

// A packet that has gone down must not go up again, so a router is two vertices of the search.
enum Phase : std::uint8_t { may_go_up, only_down };

}  // namespace

struct UpDownLevels {
  explicit UpDownLevels(const Topology& topology) : planes(topology) {
    if (planes.size() > 1) turns = planes.turns();
    for (std::uint32_t p = 0; p < std::max<std::size_t>(1, planes.size()); ++p) {
      levels.push_back(
          distances_from(topology, NodeId(0), [&](LinkId link) { return is_in_plane(link, p); }));
    }
  }
  [[nodiscard]] bool is_in_plane(LinkId link, std::uint32_t plane) const {
    return planes.size() < 2 || planes.of(link) == plane;
  }

  Planes planes;
  std::vector<std::uint32_t> turns;              // of several planes
  std::vector<std::vector<std::size_t>> levels;  // by plane, and by vertex
};

namespace {

class UpDownRouter {
 public:
  // Within plane `plane`, if the network has several.
  UpDownRouter(const Topology& topology, const UpDownLevels& levels, std::uint32_t plane)
      : topology_(topology), levels_(levels), plane_(plane), level_(levels.levels[plane]) {}

  [[nodiscard]] std::vector<LinkId> route(NodeId from, NodeId to) const {
    const auto way = ways_to(to);
    std::vector<LinkId> links;
    NodeId at = from;
    Phase phase = may_go_up;
    if (way[may_go_up][from.index()].links == kUnreached) {
      throw std::invalid_argument(fmt::format(
          "there is no up*/down* route from '{}' to '{}': the network has links without a link "
          "back",
          topology_.vertex_name(from), topology_.vertex_name(to)));
    }
    while (at != to) {
      const Way here = way[phase][at.index()];
      for (const LinkId link : topology_.out_links(at)) {
        if (!is_usable(link)) continue;
        const bool up = goes_up(link);
        if (up && phase == only_down) continue;
        const Phase then = up ? may_go_up : only_down;
        const Way on = way[then][topology_.link(link).to.index()];
        if (on.links == kUnreached || on.links + 1 != here.links) continue;
        if (std::min(on.rate, rate(link)) < here.rate) continue;
        links.push_back(link);
        at = topology_.link(link).to;
        phase = then;
        break;
      }
    }
    return links;
  }

 private:
  // The links of a shortest way, and the slowest one's rate on the fastest such way.
  struct Way {
    std::size_t links = kUnreached;
    std::uint64_t rate = 0;
  };
  using Ways = std::array<std::vector<Way>, 2>;

  [[nodiscard]] std::uint64_t rate(LinkId link) const {
    return topology_.link(link).spec.bytes_per_second;
  }

  [[nodiscard]] bool is_usable(LinkId link) const { return levels_.is_in_plane(link, plane_); }

  [[nodiscard]] bool goes_up(LinkId link) const {
    const NodeId from = topology_.link(link).from;
    const NodeId to = topology_.link(link).to;
    const std::size_t before = level_[from.index()];
    const std::size_t after = level_[to.index()];
    return after < before || (after == before && to < from);
  }

  // Breadth-first search against the direction of links, over (phase, vertex).
  [[nodiscard]] Ways ways_to(NodeId to) const {
    struct State {
      Phase phase;
      NodeId vertex;
    };
    Ways ways;
    for (auto& of_phase : ways) of_phase.assign(topology_.num_vertices(), {});
    std::vector<State> queue{{may_go_up, to}, {only_down, to}};
    for (const State& s : queue) {
      ways[s.phase][to.index()] = {0, std::numeric_limits<std::uint64_t>::max()};
    }
    const auto visit = [&](Phase phase, NodeId v, const Way& way) {
      Way& known = ways[phase][v.index()];
      if (known.links == kUnreached) {
        known = way;
        queue.push_back({phase, v});
      } else if (known.links == way.links) {
        known.rate = std::max(known.rate, way.rate);
      }
    };
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const State at = queue[head];
      const Way here = ways[at.phase][at.vertex.index()];
      for (const LinkId link : topology_.in_links(at.vertex)) {
        if (!is_usable(link)) continue;
        const NodeId before = topology_.link(link).from;
        const Way way{here.links + 1, std::min(here.rate, rate(link))};
        const bool up = goes_up(link);
        if ((at.phase == may_go_up) != up) continue;
        visit(may_go_up, before, way);
        if (!up) visit(only_down, before, way);
      }
    }
    return ways;
  }

  const Topology& topology_;
  const UpDownLevels& levels_;
  std::uint32_t plane_;
  const std::vector<std::size_t>& level_;
};

}  // namespace

std::vector<LinkId> route_packet(const Topology& topology, NodeId from, NodeId to,
                                 std::uint32_t channel) {
  if (from == to) throw std::invalid_argument("a route has two different ends");
  // A switch that adds is an end of its messages, one link from its nodes.
  const LinkId direct = topology.is_switch(from) != topology.is_switch(to)
                            ? topology.link_between(from, to)
                            : LinkId();
  if (direct.valid()) return {direct};
  if (topology.shape().route) return topology.shape().route(topology, from, to, channel);
  return up_down_route(topology, from, to, channel);
}

namespace {

std::vector<LinkId> route_in_plane(const Topology& topology, const UpDownLevels& levels,
                                   NodeId from, NodeId to, std::uint32_t channel) {
  const auto& turns = levels.turns;
  const std::size_t turn = from.index() + to.index() + channel;
  const std::uint32_t plane = turns.empty() ? 0 : turns[turn % turns.size()];
  return UpDownRouter(topology, levels, plane).route(from, to);
}

}  // namespace

std::vector<LinkId> up_down_route(const Topology& topology, NodeId from, NodeId to,
                                  std::uint32_t channel) {
  const LinkId direct = topology.link_between(from, to);
  if (direct.valid()) return {direct};
  return route_in_plane(topology, UpDownLevels(topology), from, to, channel);
}

std::vector<LinkId> RouteTurns::next(NodeId from, NodeId to) {
  const std::uint32_t split = topology_.shape().split;
  const std::uint32_t channel = split == 1 ? 0 : turns_[{from, to}]++ % split;
  if (topology_.shape().route || topology_.link_between(from, to).valid()) {
    return route_packet(topology_, from, to, channel);
  }
  if (!levels_) levels_ = std::make_shared<const UpDownLevels>(topology_);
  return route_in_plane(topology_, *levels_, from, to, channel);
}

std::vector<std::uint64_t> route_pattern(const Topology& topology, const std::vector<NodeId>& nodes,
                                         std::vector<LinkId>* used) {
  constexpr std::size_t kMostRoutes = 1 << 20;  // take about a second
  const std::uint32_t turns = topology.shape().split;
  if (!topology.shape().route || nodes.size() * nodes.size() * turns > kMostRoutes) return {};
  std::vector<std::uint64_t> pattern;
  std::vector<std::uint64_t> vertices(topology.num_vertices(), 0);
  std::vector<std::uint64_t> links(topology.num_links(), 0);
  std::uint64_t last_vertex = 0;
  std::uint64_t last_link = 0;
  const auto add_vertex = [&](NodeId vertex) {
    std::uint64_t& number = vertices[vertex.index()];
    if (number == 0) number = ++last_vertex;
    pattern.push_back(number);
  };
  const auto add_link = [&](LinkId id) {
    std::uint64_t& number = links[id.index()];
    const bool is_new = number == 0;
    if (is_new) number = ++last_link;
    pattern.push_back(number);
    if (!is_new) return;
    const TopologyLink& link = topology.link(id);
    add_vertex(link.from);
    add_vertex(link.to);
    const LinkSpec& spec = link.spec;
    pattern.insert(pattern.end(), {spec.latency_ps, spec.bytes_per_second, spec.flit_bytes});
  };
  for (const NodeId node : nodes) add_vertex(node);
  for (const NodeId node : nodes) {
    for (const auto* of_node : {&topology.out_links(node), &topology.in_links(node)}) {
      pattern.push_back(of_node->size());
      for (const LinkId link : *of_node) add_link(link);
    }
  }
  std::vector<bool> is_used(topology.num_links(), false);
  for (const NodeId from : nodes) {
    for (const NodeId to : nodes) {
      for (std::uint32_t turn = 0; turn < turns && from != to; ++turn) {
        const std::vector<LinkId> route = route_packet(topology, from, to, turn);
        const std::vector<std::uint32_t> classes = vc_classes_of(topology, route);
        pattern.push_back(route.size());
        for (const LinkId link : route) {
          add_link(link);
          if (used != nullptr && !is_used[link.index()]) used->push_back(link);
          is_used[link.index()] = true;
        }
        pattern.insert(pattern.end(), classes.begin(), classes.end());
      }
    }
  }
  return pattern;
}

std::uint32_t packet_turns(const Topology& topology) {
  if (topology.shape().split != 1) return topology.shape().split;
  const Planes planes(topology);
  return planes.size() < 2 ? 1 : static_cast<std::uint32_t>(planes.turns().size());
}

std::vector<std::vector<LinkId>> parallel_routes(const Topology& topology, NodeId from, NodeId to,
                                                 std::uint32_t channel) {
  std::vector<std::vector<LinkId>> routes;
  if (from != to && !topology.shape().route && !topology.dimensions()) {
    for (const LinkId link : topology.out_links(from)) {
      if (topology.link(link).to == to) routes.push_back({link});
    }
    std::stable_sort(routes.begin(), routes.end(), [&](const auto& a, const auto& b) {
      return topology.link(a.front()).spec.bytes_per_second >
             topology.link(b.front()).spec.bytes_per_second;
    });
    if (routes.empty()) {
      const UpDownLevels levels(topology);
      for (std::uint32_t p = 0; !levels.turns.empty() && p < levels.planes.size(); ++p) {
        routes.push_back(UpDownRouter(topology, levels, p).route(from, to));
      }
    }
  }
  if (routes.empty()) routes.push_back(route_packet(topology, from, to, channel));
  return routes;
}

std::uint32_t share_of_route(const Topology& topology, const RouteSet& routes, RouteId route) {
  std::uint64_t slowest = ~std::uint64_t{0};
  for (const LinkId link : routes.links(route)) {
    slowest = std::min(slowest, topology.link(link).spec.bytes_per_second);
  }
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      slowest / Planes::kMegabyte, 1, std::numeric_limits<std::uint32_t>::max()));
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

std::vector<std::uint32_t> vc_classes_of(const Topology& topology,
                                         const std::vector<LinkId>& route) {
  if (topology.shape().vc_classes.all == 1) return std::vector<std::uint32_t>(route.size(), 0);
  if (topology.shape().classes) {
    const auto chosen = topology.shape().classes(topology, route);
    if (chosen) return *chosen;
  }
  const RouteSet::Links links{route.data(), route.data() + route.size()};
  return topology.grid() ? dateline_classes(topology, links) : switch_hop_classes(topology, links);
}

std::vector<std::uint32_t> vc_classes_of(const Topology& topology, const RouteSet& routes,
                                         RouteId route) {
  const RouteSet::Links links = routes.links(route);
  return vc_classes_of(topology, {links.begin(), links.end()});
}

}  // namespace espalier
