// Section simulation: how a run is simulated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// Whether one NPU of a multi-dimensional system is simulated for all NPUs.
enum class Folding : std::uint8_t { automatic, on, off };

enum class Fidelity : std::uint8_t { automatic, train, cycle };

// Decisions that Verilog of hw/rtl takes in place of the model.
enum class RtlBlock : std::uint8_t { ni_control, dependency_state, dimension_queue, output_hold };

struct SimulationConfig {
  // automatic: train if it is exact, see sims/point/fidelity.h.
  Fidelity fidelity = Fidelity::automatic;
  // automatic: on if it is exact, see sims/model/plan_forecast.h.
  Folding fold = Folding::automatic;
  bool check = true;  // certify before simulating
  bool always_clocked = false;
  bool link_utilization = false;   // results contain the utilization of each link
  bool monitors = false;           // credit and VC order monitors, every cycle
  double stall_probability = 0.0;  // every link refuses a flit with this probability in each cycle
  std::uint64_t seed = 1;          // of the stalls
  // Deadlock is reported if no flit moved and nothing was delivered for this long.
  Cycle watchdog_cycles = 100000;
  std::vector<RtlBlock> rtl;

  [[nodiscard]] bool has_rtl(RtlBlock block) const {
    return std::find(rtl.begin(), rtl.end(), block) != rtl.end();
  }
};

}  // namespace espalier
