// The cost of a collective in an order of ranks (Cloud Collectives, section IV-A). A model states
// the messages and their sizes, and a matrix states the cost of a message between two nodes.
//
// A round costs as much as its slowest pair. Rounds cost their sum or their maximum. A tree costs
// its most expensive path from the root to a leaf; of several trees the most expensive one counts.
// With OrderObjective::load all messages are added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/rank_order/order_spec.h"
#include "alg/rank_order/permutation.h"
#include "hw/ids.h"

namespace espalier {

// In units of 1/scale of the unit of latencies. Integers are not rounded, so results are the same
// on every machine.
using Cost = std::uint64_t;

// The cost of S bytes between two nodes is latency (1 + S / window): TCP moves a window per round
// trip, so bandwidth is proportional to 1/RTT (Cloud Collectives, section IV-B). Cost's scale is
// the window.
class CostMatrix {
 public:
  // `latencies`, in any unit, by from * nodes + to. The larger direction of a pair counts; the
  // diagonal does not. Throws std::invalid_argument if the size does not fit, or if the sum of
  // `messages` messages of `largest` bytes could exceed 64 bits. Two messages for each node can
  // always be added.
  CostMatrix(std::size_t nodes, const std::vector<std::uint64_t>& latencies, Bytes window,
             Bytes largest, std::size_t messages = 0);

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  // 0 from a node to itself.
  [[nodiscard]] std::uint64_t latency(std::size_t from, std::size_t to) const {
    return latency_[from * nodes_ + to];
  }
  [[nodiscard]] Cost weight_of(Bytes bytes) const { return window_ + bytes; }
  [[nodiscard]] Cost cost(std::size_t from, std::size_t to, Bytes bytes) const {
    return latency(from, to) * weight_of(bytes);
  }
  // A cost in the unit of latencies.
  [[nodiscard]] double in_units(Cost cost) const {
    return static_cast<double>(cost) / static_cast<double>(window_);
  }

 private:
  std::size_t nodes_;
  std::vector<std::uint64_t> latency_;
  Bytes window_;
};

// Two ranks that exchange a message; costs are symmetric.
struct RankPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

struct CostRound {
  Bytes bytes = 0;  // of each message
  std::vector<RankPair> pairs;
};

// The cost of a vertex is the maximum over its edges of the edge's cost plus that of the vertex
// below. A vertex follows the vertices below it; the root is last.
struct TreeModelEdge {
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  RankPair pair;
  std::uint32_t below = kNothing;  // number of a vertex
};
struct TreeModel {
  Bytes bytes = 0;
  std::vector<std::vector<TreeModelEdge>> vertices;
};

struct CostModel {
  std::size_t ranks = 0;
  OrderObjective objective = OrderObjective::sum;
  std::size_t base = 2;  // the places of a round's pair differ in one digit of this base
  // Ranks at each place: one, or two that are folded onto it, the member last.
  std::vector<std::vector<std::uint32_t>> places;
  bool is_ring = false;           // round r is the hop from rank r to rank r + 1
  std::vector<CostRound> rounds;  // empty in a model of trees
  std::vector<TreeModel> trees;

  [[nodiscard]] bool has_trees() const { return !trees.empty(); }
  // Bytes of the largest message.
  [[nodiscard]] Bytes largest() const;
  // Most messages whose costs are added up.
  [[nodiscard]] std::size_t num_messages() const;
};

struct CostModelRequest {
  OrderModel model = OrderModel::ring;
  OrderForm form = OrderForm::generated;
  OrderObjective objective = OrderObjective::sum;  // max: only for a ring
  std::size_t ranks = 0;
  Bytes size = 0;          // of the collective
  std::uint32_t base = 4;  // bcube
};

// A sentence for the user if the request has no model; else empty.
[[nodiscard]] std::string unsuited_for_model(const CostModelRequest& request);

// halving_doubling folds ranks beyond a power of two as its generator does: in one more round, the
// first pairs of ranks hand all data to the odd rank. Precondition: unsuited_for_model is empty.
[[nodiscard]] CostModel make_cost_model(const CostModelRequest& request);

// Follows the definition; the reference for OrderCost.
[[nodiscard]] Cost full_cost(const CostModel& model, const CostMatrix& costs,
                             const RankOrder& order);

}  // namespace espalier
