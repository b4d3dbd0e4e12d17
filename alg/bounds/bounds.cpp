#include "alg/bounds/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "alg/bounds/cuts.h"

namespace espalier {

namespace {

void check_preconditions(const Topology& topology) {
  if (topology.num_nodes() < 2 || topology.find_disconnected().valid()) {
    throw std::invalid_argument("bounds need a connected network of at least two nodes");
  }
  for (const TopologyLink& link : topology.links()) {
    if (link.spec.bytes_per_second == 0) {
      throw std::invalid_argument("bounds need a bandwidth on every link");
    }
  }
}

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

// A grid with single links on which every node is like every other one.
bool looks_alike(const std::optional<GridShape>& grid) {
  for (std::size_t d = 0; grid && d < grid->dims.size(); ++d) {
    if ((grid->dims[d] > 2 && !grid->wraps[d]) || grid->links[d] != 1) return false;
  }
  return grid.has_value();
}

}  // namespace

bool single_nodes_bind(const Topology& topology) {
  if (!looks_alike(topology.grid()) && !is_complete(topology)) return false;
  const LinkSpec& first = topology.links().front().spec;
  return std::all_of(topology.links().begin(), topology.links().end(),
                     [&](const auto& link) { return link.spec == first; });
}

namespace {

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

CollectiveBound dimension_bound(const Topology& topology, const DimensionPlan& plan) {
  CollectiveBound bound;
  if (plan.size == 0) {
    bound.binding = "nothing to send";
    return bound;
  }
  const DimensionedShape& shape = *topology.dimensions();
  const auto nodes = static_cast<double>(topology.num_nodes());
  const std::size_t subsets = std::size_t{1} << shape.dimensions.size();
  std::vector<Proposal> proposals;
  const bool reduces = plan.op == CollectiveOp::all_reduce;
  for (std::size_t subset = 1; subset < subsets; ++subset) {
    DimensionCut cut;
    DimensionCertificate certificate;
    for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
      if ((subset >> d & 1U) == 0) continue;
      cut.add(shape.dimensions[d], plan.dimensions[d].algorithm, d);
      certificate.dimensions.push_back(static_cast<std::uint32_t>(d));
    }
    certificate.switches_add = reduces && cut.in_network;
    if (certificate.switches_add) bound.schedules = ScheduleClass::in_network_switches;
    const double seconds =
        cut.crossings(plan.op) * static_cast<double>(plan.size) / (nodes * cut.bytes_per_second);
    bound.bandwidth_seconds = std::max(bound.bandwidth_seconds, seconds);
    proposals.push_back(
        {std::move(certificate), fmt::format("{} parts with {:g} GB/s per NPU of {} between them",
                                             cut.parts, cut.bytes_per_second / 1e9, cut.names)});
  }
  const Demand demand{plan.op, plan.size, {}, {}};
  std::vector<Proposal> balls = ball_proposals(topology, demand);
  std::move(balls.begin(), balls.end(), std::back_inserter(proposals));
  take_best_proof(topology, demand, std::move(proposals), bound);
  return bound;
}

BandwidthBound bandwidth_bound(const Topology& topology, CollectiveOp op) {
  check_preconditions(topology);
  if (op == CollectiveOp::all_reduce) return all_reduce_bound(topology);
  if (op == CollectiveOp::reduce_scatter) return scatter_bound(topology, Direction::in);
  if (op == CollectiveOp::all_gather) return scatter_bound(topology, Direction::out);
  if (op == CollectiveOp::all_to_all) return all_to_all_bound(topology);
  throw std::invalid_argument("no bound is proven for this collective");
}

CollectiveBound collective_bound(const Topology& topology, CollectiveOp op, Bytes size,
                                 const std::vector<Bytes>& parts, const std::vector<double>& held) {
  CollectiveBound bound;
  const bool unequal = has_unequal_parts(op);
  const Direction direction = is_gather(op) ? Direction::out : Direction::in;
  if (unequal) op = is_gather(op) ? CollectiveOp::all_gather : CollectiveOp::reduce_scatter;
  if (size == 0) {
    bound.binding = "nothing to send";
    return bound;
  }
  const bool has_parts = op != CollectiveOp::all_reduce && !parts.empty();
  const Demand demand{op, size, has_parts ? parts : std::vector<Bytes>{}, {}, held};
  check_preconditions(topology);
  const BandwidthBound bandwidth = unequal ? scatter_bound(topology, direction, parts)
                                   : op == CollectiveOp::all_to_all
                                       ? all_to_all_bound(topology, held)
                                       : bandwidth_bound(topology, op);
  // N times the number of bytes that every node has at least.
  const Bytes even = has_parts && !unequal
                         ? *std::min_element(parts.begin(), parts.end()) * topology.num_nodes()
                         : size;
  bound.bandwidth_seconds = bandwidth.seconds_per_byte * static_cast<double>(even);
  std::vector<Proposal> proposals{{bandwidth.certificate, bandwidth.cut}};
  if (const auto* cut = std::get_if<CrossingCertificate>(&bandwidth.certificate)) {
    proposals = cut_proposals(topology, demand, *cut, bandwidth.cut);
  }
  std::vector<Proposal> balls = ball_proposals(topology, demand);
  std::move(balls.begin(), balls.end(), std::back_inserter(proposals));
  take_best_proof(topology, demand, std::move(proposals), bound);
  return bound;
}

void take_best_proof(const Topology& topology, const Demand& demand,
                     std::vector<Proposal> proposals, CollectiveBound& bound) {
  for (Proposal& proposal : proposals) {
    const ProvenBound proven = prove(topology, demand, proposal.certificate);
    if (!proven.problem.empty()) {
      throw std::logic_error("a bound's certificate is wrong: " + proven.problem);
    }
    constexpr double kClearly = 1 + 1e-12;  // of equal bounds, the first one is reported
    if (proven.seconds <= bound.seconds * kClearly) continue;
    bound.seconds = proven.seconds;
    bound.binding = std::move(proposal.text);
    bound.certificate = std::move(proposal.certificate);
  }
  constexpr double kRounding = 1 - 1e-9;
  if (bound.seconds < bound.bandwidth_seconds * kRounding) {
    throw std::logic_error("a bound's certificate does not prove it: " + bound.binding);
  }
}

double two_phase_seconds(const Topology& topology, Bytes size) {
  return collective_bound(topology, CollectiveOp::reduce_scatter, size).seconds +
         collective_bound(topology, CollectiveOp::all_gather, size).seconds;
}

}  // namespace espalier
