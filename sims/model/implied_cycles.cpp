#include "sims/model/implied_cycles.h"

#include "hw/cost/system_cost.h"
#include "sims/model/system_shape.h"

namespace espalier {

void resolve_implied_cycles(SystemConfig& system, const Topology& topology, const RunNeed& need) {
  constexpr int kMostRounds = 4;
  Cycle& pipeline = system.router.pipeline_cycles;
  for (int round = 0; system.router.pipeline_is_implied && round < kMostRounds; ++round) {
    const SystemShape shape = system_shape(system, topology, need);
    const Cycle implied = implied_router_cycles(shape, system.cost, system.clock.hertz);
    if (implied == pipeline) break;
    pipeline = implied;
  }
  if (system.ni.dimension_queue.arbitration_is_implied) {
    system.ni.dimension_queue.arbitration_cycles = implied_arbitration_cycles(
        system_shape(system, topology, need), system.cost, system.clock.hertz);
  }
}

}  // namespace espalier
