// Who sends how much to whom, in ranks: the cost of a collective in an order of the ranks (Cloud
// Collectives, section IV-A).
//
// The cost of a set of rounds is the sum, or the largest, of what its rounds cost; a round costs
// what its slowest pair costs. A tree costs its most expensive way from the root to a leaf; of
// several trees the most expensive counts. With OrderObjective::load all messages are added.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/rank_order/cost_matrix.h"
#include "alg/rank_order/order_spec.h"
#include "alg/rank_order/permutation.h"

namespace espalier {

// Two ranks that exchange a message; costs are symmetric.
struct RankPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

struct CostRound {
  Bytes bytes = 0;  // of each message
  std::vector<RankPair> pairs;
};

// A vertex costs the most that one of its edges costs together with the vertex behind it. Vertices
// come after those that their edges lead to, the root last.
struct TreeModelEdge {
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};
  RankPair pair;
  std::uint32_t below = kNothing;  // a vertex
};
struct TreeModel {
  Bytes bytes = 0;
  std::vector<std::vector<TreeModelEdge>> vertices;
};

struct CostModel {
  std::size_t ranks = 0;
  OrderObjective objective = OrderObjective::sum;
  std::size_t base = 2;  // of the digits in which the places of a round's pair differ
  // The ranks at each place: one, or two that are folded onto it, the member last.
  std::vector<std::vector<std::uint32_t>> places;
  bool is_ring = false;           // round r is the hop from rank r to rank r + 1
  std::vector<CostRound> rounds;  // of all models but trees
  std::vector<TreeModel> trees;

  [[nodiscard]] bool has_trees() const { return !trees.empty(); }
  // Of the largest message.
  [[nodiscard]] Bytes largest() const;
  // That a cost adds up, at most.
  [[nodiscard]] std::size_t num_messages() const;
};

struct CostModelRequest {
  OrderModel model = OrderModel::ring;
  OrderForm form = OrderForm::generated;
  OrderObjective objective = OrderObjective::sum;  // max: of a ring only
  std::size_t ranks = 0;
  Bytes size = 0;          // of the collective
  std::uint32_t base = 4;  // bcube
};

// Empty where there is such a model, else a sentence for the user.
[[nodiscard]] std::string unsuited_for_model(const CostModelRequest& request);

// What is not a power of two is folded as halving_doubling's generator does it: the first pairs of
// ranks hand all data to the odd one, a round more. Precondition: unsuited_for_model is empty.
[[nodiscard]] CostModel make_cost_model(const CostModelRequest& request);

// From the definition, everything anew.
[[nodiscard]] Cost full_cost(const CostModel& model, const CostMatrix& costs,
                             const RankOrder& order);

}  // namespace espalier
