// BCUBE: halving-doubling with groups of `base` ranks instead of pairs (the collective of Gloo's
// bcube, after Guo et al.: "BCube: a high performance, server-centric network architecture for
// modular data centers", 2009). The members of a group differ in one digit of their ranks, written
// to this base, and all exchange with each other at once: log_B N exchanges of B - 1 messages
// each way.
//
// The reduce-scatter begins with the highest digit, so that a rank keeps consecutive chunks in the
// order of the ranks. The all-gather ends with the highest digit.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"
#include "alg/generators/rank_shapes.h"

namespace espalier {
namespace {

class Bcube {
 public:
  Bcube(const Topology& topology, const CollectiveRequest& request)
      : request_(request),
        ranks_(topology.num_nodes()),
        base_(request.base),
        per_step_(std::min<std::size_t>(base_ - 1, messages_per_step(topology))),
        schedule_(empty_schedule("bcube", topology, request)),
        exchange_(topology, schedule_) {
    schedule_.ni_ports = static_cast<std::uint32_t>(per_step_);
    const auto offsets = cut_evenly(request.size, ranks_, request.element_bytes);
    for (std::size_t r = 0; r < ranks_; ++r) {
      schedule_.chunks.push_back({offsets[r], offsets[r + 1] - offsets[r], request.node_of(r)});
    }
  }

  Schedule build() {
    if (request_.op != CollectiveOp::all_gather) {
      for (std::size_t distance = ranks_ / base_; distance > 0; distance /= base_) {
        add_exchange(distance, TransferKind::reduce);
      }
    }
    if (request_.op != CollectiveOp::reduce_scatter) {
      for (std::size_t distance = 1; distance < ranks_; distance *= base_) {
        add_exchange(distance, TransferKind::copy);
      }
    }
    return finished(std::move(schedule_));
  }

 private:
  // With its t-th message, a rank sends to the peer whose digit is larger by t, modulo the base. In
  // one step it sends as many messages as its links can take.
  void add_exchange(std::size_t distance, TransferKind kind) {
    for (std::size_t t = 1; t < base_; ++t) {
      if ((t - 1) % per_step_ == 0) ++schedule_.num_steps;
      for (std::size_t r = 0; r < ranks_; ++r) {
        const std::size_t digit = r / distance % base_;
        const std::size_t peer = r - digit * distance + (digit + t) % base_ * distance;
        const std::size_t kept_by = kind == TransferKind::reduce ? peer : r;
        exchange_.send(request_.node_of(r), request_.node_of(peer), block_around(kept_by, distance),
                       kind);
      }
    }
    exchange_.end_exchange();
  }

  // The chunks of the `count` ranks that differ from `rank` only in the low digits.
  [[nodiscard]] static std::vector<std::size_t> block_around(std::size_t rank, std::size_t count) {
    std::vector<std::size_t> chunks(count);
    std::iota(chunks.begin(), chunks.end(), rank / count * count);
    return chunks;
  }

  const CollectiveRequest& request_;
  std::size_t ranks_;
  std::size_t base_;
  std::size_t per_step_;
  Schedule schedule_;
  BlockExchange exchange_;
};

std::optional<ParameterProblem> problem_of_base(const Topology& topology,
                                                const CollectiveRequest& request) {
  const std::string reason = unsuited_for_bcube(topology.num_nodes(), request.base);
  if (reason.empty()) return std::nullopt;
  return ParameterProblem{"collective.base", reason, smallest_bcube_base(topology.num_nodes())};
}

Schedule generate_bcube(const Topology& topology, const CollectiveRequest& request) {
  const std::string problem = unsuited_for_bcube(topology.num_nodes(), request.base);
  if (!problem.empty()) throw std::invalid_argument(problem);
  return Bcube(topology, request).build();
}

}  // namespace

Generator bcube_row() {
  Generator row(
      "bcube",
      "halving-doubling in groups of collective.base ranks; all pairs of a group exchange at once",
      reduction_ops(), unsuited_for_routes, generate_bcube);
  row.parameters = {{"collective.base", {}}};
  row.problem = problem_of_base;
  row.order_model = OrderModel::bcube;
  return row;
}

}  // namespace espalier
