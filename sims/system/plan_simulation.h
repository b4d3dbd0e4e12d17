// A dimension plan, simulated: what every NPU's dimension queues make of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/plans/order_forecast.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

// Of one stage at the first NPU, in cycles.
struct StageSpan {
  StageRef stage;
  Cycle ready = 0;  // its chunk waits in the dimension's queue
  Cycle start = 0;  // it has a place there
  Cycle end = 0;    // everything sent, received and in memory
};

struct PlanOutcome {
  SimulationOutcome simulation;  // of all NPUs
  bool folded = false;           // one of them was simulated for all
  bool foldable = false;         // one could be; --messages needs all of them nevertheless
  bool equal_parts = true;
  std::vector<Bytes> bytes_sent;  // by dimension, of all NPUs together
  std::vector<StageSpan> stages;  // of the first NPU, in the order of their starts
};

// What the pre-simulation has to know of the point's system.
[[nodiscard]] ForecastSpec forecast_spec(const Topology& topology, const RunPoint& point,
                                         const DimensionPlan& plan);

// One plan on one system, made before the simulation starts; several may be made, and then run one
// after the other, in one process.
class PlanSimulation {
 public:
  // All arguments must outlive it. `suffix`: see SimulatedSystem. Preconditions:
  // topology.dimensions(), the plan is certified. Throws std::invalid_argument where the system
  // cannot be built, or not folded although the point demands it.
  PlanSimulation(const Topology& topology, const RunPoint& point, const DimensionPlan& plan,
                 const SimulationHooks& hooks, const std::string& suffix = {});
  ~PlanSimulation();
  PlanSimulation(const PlanSimulation&) = delete;
  PlanSimulation& operator=(const PlanSimulation&) = delete;

  [[nodiscard]] PlanOutcome run();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

[[nodiscard]] PlanOutcome simulate_plan(const Topology& topology, const RunPoint& point,
                                        const DimensionPlan& plan, const SimulationHooks& hooks);

}  // namespace espalier
