// How much the order of ranks matters on a network: a search's best and worst order, compared with
// the identity, random orders and a lower bound by a cost model, and by simulations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alg/rank_order/order_model.h"
#include "alg/rank_order/permutation.h"
#include "hw/topology/topology.h"
#include "sims/point/reorder_config.h"

namespace espalier {

struct RunPoint;

struct StudiedOrder {
  RankOrder order;
  double cost = 0;      // in the unit of the latencies
  bool proven = false;  // no order is better (of the best), or worse (of the worst)
  std::uint64_t evaluations = 0;
};

// The order of nodes that a run of the point uses.
struct RunOrder {
  RankOrder order;
  std::string name;                 // "nodes in number order"
  std::optional<OrderModel> model;  // of the run's algorithm; empty: it has none
};

// Rings without collective.rank_order follow a ring of the network's links, not the nodes' numbers.
[[nodiscard]] RunOrder order_of_run(const Topology& topology, const RunPoint& point);

struct OrderStudy {
  CostModelRequest model;
  double identity = 0;
  RunOrder run_order;
  double run_cost = 0;
  StudiedOrder best;
  StudiedOrder worst;
  // Costs of random orders, drawn with the seed of the search and the seeds after it.
  std::vector<double> random_costs;
  double random_mean = 0;
  double random_least = 0;
  double random_most = 0;
  // Costs evenly spread from the best (exclusive) to the worst.
  std::vector<StudiedOrder> spread;
  double bound = 0;  // no order costs less

  // The most by which the best order found may exceed the optimum: (best - bound) / bound.
  [[nodiscard]] double gap() const { return bound == 0 ? 0 : (best.cost - bound) / bound; }
};

// The model that `reorder` names, otherwise the model of the point's algorithm. If the algorithm
// has no model, `problem` says so.
[[nodiscard]] std::optional<CostModelRequest> cost_model_request(const RunPoint& point,
                                                                 std::size_t nodes,
                                                                 std::string& problem);

// Parts of the work, each from 0 to 1: the best order, the worst. If it returns false, the part
// ends with what it has found.
using StudyProgress = std::function<bool(std::size_t part, double done)>;

// `latencies` by from * nodes + to; `spread`: number of orders between the best and the worst. Of
// orders that cost the same, the best is the order of the run, or else the identity.
// Throws std::invalid_argument where costs exceed 64 bits.
[[nodiscard]] OrderStudy study_orders(const CostModelRequest& request,
                                      const std::vector<std::uint64_t>& latencies,
                                      const RunOrder& run_order, const ReorderConfig& config,
                                      std::size_t spread, const StudyProgress& progress);

struct SimulatedOrder {
  std::uint64_t cycles = 0;
  double time_ns = 0;
  // The busiest link.
  std::string link;  // "a0 -> b0"; empty: there are no figures of links
  double utilization = 0;
};

struct OrderSimulation {
  SimulatedOrder run;    // in the order of the run
  SimulatedOrder found;  // in the order that the search found
  std::string failure;   // why there are no results; empty: there are
  int signal = 0;        // that stopped the simulations; 0: none did

  // How many times faster the found order is.
  [[nodiscard]] double gain() const;
};

// Simulates each of the two orders in a process of its own, because a cost model is not a
// simulation; only once if they are the same. Precondition: the point's algorithm follows an order
// of ranks.
[[nodiscard]] OrderSimulation simulate_orders(RunPoint point, const OrderStudy& study,
                                              const StudiedOrder& found, unsigned jobs);

}  // namespace espalier
