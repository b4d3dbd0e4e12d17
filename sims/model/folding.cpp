#include "sims/model/folding.h"

#include <fmt/format.h>

#include "alg/plans/plan_layout.h"
#include "alg/plans/planner.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/faults.h"
#include "sims/point/config.h"

namespace espalier {

std::string folding_obstacle(const RunPoint& point, const DimensionPlan& plan,
                             const DimensionedShape& shape) {
  const CollectiveConfig& collective = *point.collective;
  const PlanLayout layout(plan, shape, collective.element_bytes, collective.parts);
  if (!layout.equal_parts()) {
    const PlanLayout padded(plan, shape, collective.element_bytes, PartSizes::equal);
    const double ratio = static_cast<double>(padded.padded_size()) / static_cast<double>(plan.size);
    return fmt::format(
        "collective.parts (chunks do not divide into equal parts; padding would add {:.1f} %)",
        100 * (ratio - 1));
  }
  if (const std::string fault = uneven_fault(point.faults); !fault.empty()) return fault;
  if (point.simulation.stall_probability > 0) {
    return "simulation.stall_probability (each link stalls on its own)";
  }
  return {};
}

std::string folding_obstacle(const RunPoint& point, const DimensionedShape& shape) {
  const CollectiveConfig& collective = *point.collective;
  const Planner& planner = *find_planner(collective.algorithm);
  return folding_obstacle(
      point, planner.plan(planned_dimensions(point.system), plan_request(collective)), shape);
}

}  // namespace espalier
