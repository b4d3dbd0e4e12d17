// Energy of what a simulation did: counted events times the cost model's energy of each.
#pragma once

#include <cstdint>
#include <optional>

#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
#include "sims/system/hardware_events.h"

namespace espalier {

// Counts of events, and the energy of all events of a kind in pJ. Dynamic energy only: no leakage,
// and no clock tree.
struct EventEnergy {
  std::uint64_t router_flits = 0;  // buffer write, buffer read, crossbar
  double buffers_pj = 0;
  double crossbars_pj = 0;
  std::uint64_t arbitrations = 0;
  double allocators_pj = 0;
  std::uint64_t injected_flits = 0;  // NI buffer write and read
  double ni_buffers_pj = 0;
  std::uint64_t decisions = 0;  // table entries read, or stages picked from dimension queues
  double decisions_pj = 0;
  std::uint64_t link_flits = 0;
  std::optional<double> links_pj;  // empty: the configuration does not give the energy of a bit

  [[nodiscard]] double total_pj() const {
    return buffers_pj + crossbars_pj + allocators_pj + ni_buffers_pj + decisions_pj +
           links_pj.value_or(0);
  }
};

// `shape` and `cost` describe `topology`. If one NPU was simulated for all (`folded`), the vertices
// of the events belong to the folded topology, where no other NPU stands at a switch.
[[nodiscard]] EventEnergy energy_of(const HardwareEvents& events, bool folded,
                                    const SystemShape& shape, const SystemCost& cost,
                                    const Topology& topology, double link_pj_per_bit);

}  // namespace espalier
