// What an order of ranks is worth on a network: the best and the worst that a search finds beside
// the identity, random orders and a lower bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alg/rank_order/order_model.h"
#include "alg/rank_order/permutation.h"
#include "sims/point/config.h"

namespace espalier {

struct StudiedOrder {
  RankOrder order;
  double cost = 0;      // in the unit of the latencies
  bool proven = false;  // no order is better, or worse
  std::uint64_t evaluations = 0;
};

struct OrderStudy {
  CostModelRequest model;
  double identity = 0;
  StudiedOrder best;
  StudiedOrder worst;
  // Of random orders: drawn with the seed of the search, and those after it.
  std::vector<double> random_costs;
  double random_mean = 0;
  double random_least = 0;
  double random_most = 0;
  // Costs evenly spread from the best (exclusive) to the worst; see spread_order.h.
  std::vector<StudiedOrder> spread;
  double bound = 0;  // no order is cheaper
  std::string bound_kind;
  std::string z3;  // what Z3 said; empty where it was not asked

  // How far the best found may be from the best there is: (best - bound) / bound.
  [[nodiscard]] double gap() const { return bound == 0 ? 0 : (best.cost - bound) / bound; }
};

// The model of the point's algorithm, or the one that `reorder` names; a sentence in `problem`
// where there is none.
[[nodiscard]] std::optional<CostModelRequest> cost_model_request(const RunPoint& point,
                                                                 std::size_t nodes,
                                                                 std::string& problem);

// Parts of the work, each from 0 to 1: the best order, the worst.
using StudyProgress = std::function<void(std::size_t part, double done)>;

// `latencies` by from * nodes + to; `spread`: so many orders between the best and the worst. Throws
// std::invalid_argument where costs exceed 64 bits, or Z3 is asked and not built in.
[[nodiscard]] OrderStudy study_orders(const CostModelRequest& request,
                                      const std::vector<std::uint64_t>& latencies,
                                      const ReorderConfig& config, std::size_t spread,
                                      const StudyProgress& progress);

}  // namespace espalier
