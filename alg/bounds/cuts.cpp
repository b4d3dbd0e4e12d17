#include "alg/bounds/cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>

#include "alg/routes/links.h"

namespace espalier {

namespace {
constexpr std::size_t kMostNodesNamed = 4;
}  // namespace

const char* to_string(Direction direction) { return direction == Direction::out ? "out" : "in"; }

Cut other_side(Cut cut) {
  cut.inside.flip();
  cut.direction = opposite(cut.direction);
  return cut;
}

WideAmount border_rate(const Topology& topology, const Cut& cut) {
  WideAmount rate = 0;
  for (const TopologyLink& link : topology.links()) {
    if (cut.inside[tail_of(link, cut.direction).index()] &&
        !cut.inside[head_of(link, cut.direction).index()]) {
      rate += link.spec.bytes_per_second;
    }
  }
  return rate;
}

std::string border_text(const Topology& topology, const Cut& cut) {
  std::size_t links = 0;
  for (const TopologyLink& link : topology.links()) {
    if (cut.inside[tail_of(link, cut.direction).index()] &&
        !cut.inside[head_of(link, cut.direction).index()]) {
      ++links;
    }
  }
  return fmt::format("{} {} {}, {:g} GB/s", links, links == 1 ? "link" : "links",
                     to_string(cut.direction),
                     static_cast<double>(border_rate(topology, cut)) / 1e9);
}

std::string cut_text(const Topology& topology, Cut cut) {
  const auto nodes_inside = static_cast<std::size_t>(
      std::count(cut.inside.begin(),
                 cut.inside.begin() + static_cast<std::ptrdiff_t>(topology.num_nodes()), true));
  if (2 * nodes_inside > topology.num_nodes()) {
    cut = other_side(std::move(cut));
  }
  std::vector<std::string> names;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (cut.inside[n]) names.push_back(topology.vertex_name(NodeId(n)));
  }
  const std::string side = names.size() <= kMostNodesNamed
                               ? fmt::format("{{{}}}", fmt::join(names, ", "))
                               : fmt::format("{} nodes", names.size());
  return fmt::format("cut {} | rest: {}", side, border_text(topology, cut));
}

Cut single_node(const Topology& topology, NodeId node, Direction direction) {
  Cut cut{std::vector<bool>(topology.num_vertices(), false), direction};
  cut.inside[node.index()] = true;
  return cut;
}

CrossingCertificate crossing_of(const Topology& topology, const Cut& cut, const Scope& scope) {
  CrossingCertificate crossing;
  crossing.into = cut.direction == Direction::in ? cut.inside : other_side(cut).inside;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (scope.has(NodeId(n))) (crossing.into[n] ? crossing.to : crossing.from).emplace_back(n);
  }
  return crossing;
}

std::vector<std::uint64_t> latencies(const Topology& topology, const std::vector<NodeId>& nodes,
                                     Direction direction) {
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::vector<std::uint64_t> latency(topology.num_vertices(),
                                     std::numeric_limits<std::uint64_t>::max());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
  for (const NodeId node : nodes) {
    latency[node.index()] = 0;
    frontier.emplace(0, node.index());
  }
  while (!frontier.empty()) {
    const auto [picoseconds, v] = frontier.top();
    frontier.pop();
    if (picoseconds != latency[v]) continue;
    const auto& links =
        direction == Direction::out ? topology.out_links(NodeId(v)) : topology.in_links(NodeId(v));
    for (const LinkId id : links) {
      const TopologyLink& link = topology.link(id);
      const std::size_t next = head_of(link, direction).index();
      const std::uint64_t arrival = picoseconds + link.spec.latency_ps;
      if (arrival >= latency[next]) continue;
      latency[next] = arrival;
      frontier.emplace(arrival, next);
    }
  }
  return latency;
}

void visit_likely_cuts(const Topology& topology, bool larger, const LikelyCut& visit) {
  std::vector<bool> inside(topology.num_vertices());
  const auto count = [&] {
    return std::count(inside.begin(),
                      inside.begin() + static_cast<std::ptrdiff_t>(topology.num_nodes()), true);
  };
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const auto distance = distances_from(topology, NodeId(n));
    const std::size_t farthest = *std::max_element(distance.begin(), distance.end());
    for (std::size_t radius = 0; radius < (larger ? farthest : 1); ++radius) {
      for (std::size_t v = 0; v < inside.size(); ++v) inside[v] = distance[v] <= radius;
      visit(inside, [&] {
        const std::string& centre = topology.vertex_name(NodeId(n));
        return count() == 1
                   ? fmt::format("node {} alone", centre)
                   : fmt::format("the {} nodes within {} links of {}", count(), radius, centre);
      });
    }
  }
  if (!topology.grid()) return;
  const GridShape& grid = *topology.grid();
  for (std::size_t dim = 0; dim < grid.dims.size(); ++dim) {
    for (std::uint32_t border = 1; border < grid.dims[dim]; ++border) {
      for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
        inside[n] = grid.coordinates(NodeId(n))[dim] < border;
      }
      visit(inside, [&] { return fmt::format("cut {} | rest across dimension {}", count(), dim); });
    }
  }
}

}  // namespace espalier
