#include "sims/experiment/cost_system.h"

#include "hw/topology/link_timing.h"
#include "sims/model/build_dimensions.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

CostSystem cost_system(const Topology& topology, const RunPoint& point) {
  CostSystem system;
  system.dimensions = topology.dimensions()->dimensions;
  system.planned = planned_dimensions(point.system);
  DimensionPlan shape;  // only its dimensions are used
  shape.dimensions = system.planned;
  system.forecast = forecast_spec(topology, point, shape);
  system.cycle_ns = nanoseconds(1, point.system.clock);
  return system;
}

}  // namespace espalier
