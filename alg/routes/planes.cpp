#include "alg/routes/planes.h"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

constexpr std::size_t kMostUnits = 64;  // of all planes

// By link: its place among the links between the same two vertices, and how many there are at least
// one way.
struct Parallel {
  std::uint32_t place = 0;
  std::uint32_t links = 0;
};

std::vector<Parallel> parallel_links(const Topology& topology) {
  std::vector<Parallel> parallel(topology.num_links());
  std::vector<std::uint32_t> there(topology.num_vertices(), 0);
  std::vector<std::uint32_t> back(topology.num_vertices(), 0);
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const auto& out = topology.out_links(NodeId(v));
    const auto& in = topology.in_links(NodeId(v));
    for (const LinkId l : out) parallel[l.index()].place = there[topology.link(l).to.index()]++;
    for (const LinkId l : in) ++back[topology.link(l).from.index()];
    for (const LinkId l : out) {
      const std::size_t to = topology.link(l).to.index();
      parallel[l.index()].links = std::min(there[to], back[to]);
    }
    for (const LinkId l : out) there[topology.link(l).to.index()] = 0;
    for (const LinkId l : in) back[topology.link(l).from.index()] = 0;
  }
  return parallel;
}

// No more planes than node 0 has links to switches, and parallel links to another node.
bool may_have_two_planes(const Topology& topology) {
  const auto& links = topology.out_links(NodeId(0));
  const auto to_switches = std::count_if(links.begin(), links.end(), [&](LinkId l) {
    return topology.is_switch(topology.link(l).to);
  });
  const bool has_parallel = std::any_of(links.begin(), links.end(), [&](LinkId l) {
    return topology.link_between(NodeId(0), topology.link(l).to) != l;
  });
  return has_parallel || to_switches + (static_cast<std::size_t>(to_switches) < links.size()) > 1;
}

// Every link leads back, so that one walk over the links reaches all that they connect.
bool link_all_nodes(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<bool> has_link(topology.num_links(), false);
  for (const LinkId link : links) has_link[link.index()] = true;
  std::vector<bool> reached(topology.num_vertices(), false);
  std::vector<NodeId> queue{NodeId(0)};
  reached[0] = true;
  std::size_t nodes = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId at = queue[head];
    if (!topology.is_switch(at)) ++nodes;
    for (const LinkId link : topology.out_links(at)) {
      const NodeId next = topology.link(link).to;
      if (!has_link[link.index()] || reached[next.index()]) continue;
      reached[next.index()] = true;
      queue.push_back(next);
    }
  }
  return nodes == topology.num_nodes();
}

// A node outside of the process group, which appears as a switch.
bool is_outside(const Topology& topology, NodeId vertex) {
  const std::vector<bool>& outside = topology.shape().outside;
  return !outside.empty() && outside[vertex.index()];
}

}  // namespace

std::vector<std::uint32_t> switch_components(const Topology& topology, std::uint32_t& components) {
  std::vector<std::uint32_t> component(topology.num_vertices(), Planes::kNone);
  components = 0;
  for (std::size_t first = topology.num_nodes(); first < component.size(); ++first) {
    if (component[first] != Planes::kNone || is_outside(topology, NodeId(first))) continue;
    std::vector<NodeId> found{NodeId(first)};
    component[first] = components;
    for (std::size_t head = 0; head < found.size(); ++head) {
      const auto visit = [&](NodeId next) {
        if (!topology.is_switch(next) || component[next.index()] != Planes::kNone ||
            is_outside(topology, next)) {
          return;
        }
        component[next.index()] = components;
        found.push_back(next);
      };
      const NodeId at = found[head];
      for (const LinkId l : topology.out_links(at)) visit(topology.link(l).to);
      for (const LinkId l : topology.in_links(at)) visit(topology.link(l).from);
    }
    ++components;
  }
  return component;
}

Planes::Planes(const Topology& topology) : of_link_(topology.num_links(), kNone) {
  if (topology.shape().route || topology.dimensions() || !may_have_two_planes(topology)) return;
  std::uint32_t components = 0;
  const std::vector<std::uint32_t> component = switch_components(topology, components);
  std::vector<std::vector<LinkId>> parts(components + 1);  // the last one: links between nodes
  for (std::size_t l = 0; l < of_link_.size(); ++l) {
    const TopologyLink& link = topology.link(LinkId(l));
    parts[std::min({component[link.from.index()], component[link.to.index()], components})]
        .emplace_back(l);
  }
  const std::vector<Parallel> parallel = parallel_links(topology);
  struct Found {
    std::vector<LinkId> links;
    std::uint64_t rate = ~std::uint64_t{0};  // in MB/s
  };
  std::vector<Found> found;
  for (const auto& links : parts) {
    std::uint32_t planes = kNone;
    for (const LinkId link : links) planes = std::min(planes, parallel[link.index()].links);
    if (links.empty() || planes == 0 || !link_all_nodes(topology, links)) continue;
    const std::size_t first = found.size();
    found.resize(first + planes);
    for (const LinkId link : links) {
      Found& plane = found[first + std::min(parallel[link.index()].place, planes - 1)];
      plane.links.push_back(link);
      plane.rate = std::clamp<std::uint64_t>(
          topology.link(link).spec.bytes_per_second / Planes::kMegabyte, 1, plane.rate);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.rate > b.rate; });
  for (const Found& plane : found) {
    for (const LinkId link : plane.links) {
      of_link_[link.index()] = static_cast<std::uint32_t>(rates_.size());
    }
    rates_.push_back(plane.rate);
  }
}

std::vector<std::uint32_t> Planes::turns() const {
  const std::vector<std::uint32_t> units = units_of_rates(rates_, kMostUnits);
  const auto all = std::accumulate(units.begin(), units.end(), std::uint64_t{0});
  std::vector<std::uint32_t> turns;
  std::vector<std::uint64_t> taken(units.size(), 0);
  for (std::uint64_t turn = 0; turn < all; ++turn) {
    // The plane that would be done first with one more message.
    std::size_t next = 0;
    for (std::size_t p = 1; p < units.size(); ++p) {
      if ((taken[p] + 1) * units[next] < (taken[next] + 1) * units[p]) next = p;
    }
    ++taken[next];
    turns.push_back(static_cast<std::uint32_t>(next));
  }
  return turns;
}

std::vector<std::uint32_t> units_of_rates(const std::vector<std::uint64_t>& rates,
                                          std::size_t most) {
  std::uint64_t common = 0;
  std::uint64_t fastest = 0;
  for (const std::uint64_t rate : rates) {
    common = std::gcd(common, rate);
    fastest = std::max(fastest, rate);
  }
  std::vector<std::uint32_t> units(rates.size());
  std::uint64_t of_fastest =
      common == 0 ? 1 : std::min<std::uint64_t>(fastest / common, kMostUnits);
  while (true) {
    for (std::size_t p = 0; p < rates.size(); ++p) {
      const std::uint64_t wanted =
          fastest == 0 ? 1 : (rates[p] * of_fastest + fastest / 2) / fastest;
      units[p] = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, wanted));
    }
    const std::size_t all = std::accumulate(units.begin(), units.end(), std::size_t{0});
    if (of_fastest == 1 || all <= most) return units;
    of_fastest /= 2;
  }
}

}  // namespace espalier
