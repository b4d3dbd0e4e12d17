// The simulation of a dimension plan, executed by the dimension queues of all NPUs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "hw/topology/topology.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunPoint;

// Cycles of one stage at the first NPU.
struct StageSpan {
  StageRef stage;
  Cycle ready = 0;  // its chunk enters the dimension's queue
  Cycle start = 0;  // the arbiter starts it
  Cycle end = 0;    // everything is sent, received and in memory
};

struct PlanOutcome {
  SimulationOutcome simulation;  // of all NPUs
  bool folded = false;           // one NPU was simulated for all
  bool foldable = false;         // one NPU could stand for all; --messages prevents it
  bool equal_parts = true;
  std::vector<Bytes> bytes_sent;  // by dimension, of all NPUs together
  std::vector<StageSpan> stages;  // of the first NPU, in the order of their starts
};

// One plan on one system, built before the simulation starts. One process may build several and
// then run them one after the other.
class PlanSimulation {
 public:
  // All arguments must outlive this object. `suffix`: see SimulatedSystem. Preconditions:
  // topology.dimensions(), and the plan is certified. Throws std::invalid_argument if the system
  // cannot be built, or if the point demands folding and the system cannot be folded.
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
