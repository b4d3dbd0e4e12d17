#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "sims/point/config.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

// How much of the time each dimension of the first NPU had a chunk to work on, waiting or under way
// (Themis, Fig. 9), period by period: `activity.period_ns`, and a list for each dimension,
// `activity.dim1` and so on. Periods are 100 us as in the paper, or a tenth, a hundredth, ... of
// that for a run of fewer than ten of them.
void describe_activity(nlohmann::ordered_json& result, const RunPoint& point,
                       const DimensionPlan& plan, const std::vector<StageSpan>& stages);

}  // namespace espalier
