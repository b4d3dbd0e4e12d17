#include "alg/bounds/cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace espalier {

namespace {
constexpr std::size_t kMostNodesNamed = 4;
}  // namespace

const char* to_string(Direction direction) { return direction == Direction::out ? "out" : "in"; }

Cut other_side(Cut cut) {
  cut.inside.flip();
  cut.direction = cut.direction == Direction::out ? Direction::in : Direction::out;
  return cut;
}

FlowAmount border_rate(const Topology& topology, const Cut& cut) {
  FlowAmount rate = 0;
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

CrossingCertificate crossing_of(const Topology& topology, const Cut& cut) {
  CrossingCertificate crossing;
  crossing.into = cut.direction == Direction::in ? cut.inside : other_side(cut).inside;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    (crossing.into[n] ? crossing.to : crossing.from).emplace_back(n);
  }
  return crossing;
}

}  // namespace espalier
