#include "alg/bounds/bounds.h"

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

}  // namespace

BandwidthBound bandwidth_bound(const Topology& topology, CollectiveOp op) {
  check_preconditions(topology);
  switch (op) {
    case CollectiveOp::all_reduce:
      return all_reduce_bound(topology);
    case CollectiveOp::reduce_scatter:
      return scatter_bound(topology, Direction::in);
    case CollectiveOp::all_gather:
      return scatter_bound(topology, Direction::out);
    case CollectiveOp::all_to_all:
      return all_to_all_bound(topology);
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
    case CollectiveOp::custom:
    case CollectiveOp::all_to_allv:
      break;
  }
  throw std::invalid_argument("no bound is proven for this collective");
}

CollectiveBound collective_bound(const Topology& topology, CollectiveOp op, Bytes size,
                                 const std::vector<Bytes>& parts) {
  CollectiveBound bound;
  if (size == 0) {
    bound.binding = "nothing to send";
    return bound;
  }
  const bool has_parts = op != CollectiveOp::all_reduce && !parts.empty();
  const Demand demand{op, size, has_parts ? parts : std::vector<Bytes>{}, {}};
  const BandwidthBound bandwidth = bandwidth_bound(topology, op);
  // N times the number of bytes that every node has at least.
  const Bytes even =
      has_parts ? *std::min_element(parts.begin(), parts.end()) * topology.num_nodes() : size;
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
