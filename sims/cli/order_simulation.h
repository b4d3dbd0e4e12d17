// Simulates the order of ranks that a run uses and the order that a search found, because a cost
// model is not a simulation.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sims/cli/input.h"
#include "sims/experiment/order_study.h"

namespace espalier {

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

// Simulates each of the two orders in a process of its own; only once if they are the same.
// Precondition: the point's algorithm follows an order of ranks. `progress`: for each order, 0
// to 1.
[[nodiscard]] OrderSimulation simulate_orders(
    const Input& input, const OrderStudy& study, const StudiedOrder& found,
    const std::string& program, unsigned jobs,
    const std::function<void(std::size_t, double)>& progress);

// Rows of a table, and sentences that compare the model's gain with the simulated gain.
// `is_worst`: the search looked for the worst order.
[[nodiscard]] std::string comparison_text(const OrderSimulation& simulation,
                                          const OrderStudy& study, const StudiedOrder& found,
                                          bool is_worst);
[[nodiscard]] nlohmann::ordered_json comparison_json(const OrderSimulation& simulation,
                                                     const OrderStudy& study,
                                                     const StudiedOrder& found, bool is_worst);

}  // namespace espalier
