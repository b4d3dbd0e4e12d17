// Bounds without a search over cuts: for networks in which single nodes give the bound, and for
// multi-dimensional systems.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "alg/bounds/dimension_bound.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

bool is_complete(const Topology& topology) {
  const std::size_t nodes = topology.num_nodes();
  if (topology.num_switches() != 0 || topology.num_links() != nodes * (nodes - 1)) return false;
  std::vector<std::size_t> seen_from(nodes, nodes);  // by node: the last node with a link to it
  for (std::size_t n = 0; n < nodes; ++n) {
    for (const LinkId id : topology.out_links(NodeId(n))) {
      std::size_t& seen = seen_from[topology.link(id).to.index()];
      if (seen == n) return false;
      seen = n;
    }
    if (topology.out_links(NodeId(n)).size() != nodes - 1) return false;
  }
  return true;
}

}  // namespace

bool single_nodes_bind(const Topology& topology) {
  const bool torus = topology.grid() && topology.grid()->wraps;
  if (!torus && !is_complete(topology)) return false;
  const LinkSpec& first = topology.links().front().spec;
  return std::all_of(topology.links().begin(), topology.links().end(),
                     [&](const auto& link) { return link.spec == first; });
}

namespace {

// The latency between two NPUs of a group with the largest distance.
std::uint64_t farthest_ps(const DimensionSpec& dimension) {
  switch (dimension.shape) {
    case DimensionShape::ring:
      return dimension.size / 2 * dimension.link.latency_ps;
    case DimensionShape::fully_connected:
      return dimension.link.latency_ps;
    case DimensionShape::switched:
      break;
  }
  return 2 * dimension.link.latency_ps;
}

// A cut of all links of some dimensions, and the number of parts into which the system falls.
struct DimensionCut {
  double parts = 1;
  double bytes_per_second = 0;  // bandwidth of an NPU in these dimensions
  bool in_network = false;
  std::string names;

  void add(const DimensionSpec& spec, DimensionAlgorithm algorithm, std::size_t d) {
    parts *= spec.size;
    bytes_per_second += static_cast<double>(spec.bytes_per_second());
    in_network = in_network || algorithm == DimensionAlgorithm::in_network;
    names += fmt::format("{}dim{}", names.empty() ? "" : "+", d + 1);
  }

  // The minimum number of times that each element crosses the cut.
  [[nodiscard]] double crossings(CollectiveOp op) const {
    if (op != CollectiveOp::all_reduce) return parts - 1;
    return in_network ? parts : 2 * (parts - 1);
  }
};

}  // namespace

CollectiveBound dimension_bound(const DimensionedShape& shape, const DimensionPlan& plan) {
  CollectiveBound bound;
  if (plan.size == 0) {
    bound.binding = "nothing to send";
    return bound;
  }
  double nodes = 1;
  std::uint64_t distance_ps = 0;
  for (const DimensionSpec& d : shape.dimensions) {
    nodes *= d.size;
    distance_ps += farthest_ps(d);
  }
  const std::size_t subsets = std::size_t{1} << shape.dimensions.size();
  for (std::size_t subset = 1; subset < subsets; ++subset) {
    DimensionCut cut;
    for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
      if ((subset >> d & 1U) != 0) cut.add(shape.dimensions[d], plan.dimensions[d].algorithm, d);
    }
    const double seconds =
        cut.crossings(plan.op) * static_cast<double>(plan.size) / (nodes * cut.bytes_per_second);
    if (seconds <= bound.bandwidth_seconds) continue;
    bound.bandwidth_seconds = seconds;
    bound.binding = fmt::format("{} parts with {:g} GB/s per NPU of {} between them", cut.parts,
                                cut.bytes_per_second / 1e9, cut.names);
  }
  bound.latency_seconds = static_cast<double>(distance_ps) * 1e-12;
  bound.seconds = bound.bandwidth_seconds;
  if (bound.latency_seconds > bound.bandwidth_seconds) {
    bound.seconds = bound.latency_seconds;
    bound.binding =
        fmt::format("distance across all dimensions: {:g} ns", bound.latency_seconds * 1e9);
  }
  return bound;
}

}  // namespace espalier
