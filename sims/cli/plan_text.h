// What `check` and `schedule` say of a plan of dimensions' stages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hw/topology/topology.h"
#include "sims/experiment/plan_runner.h"
#include "sims/point/config.h"

namespace espalier {

// A line of totals, and one for each dimension: what it is, what each NPU sends there (N_K), and
// the load that was predicted when the chunks were planned.
[[nodiscard]] std::string plan_summary(const Topology& topology, const ForecastPlan& planned);
// A line for each chunk with its way through the dimensions, then each dimension's starts.
[[nodiscard]] std::string plan_table(const Topology& topology, const RunPoint& point,
                                     const ForecastPlan& planned);
[[nodiscard]] nlohmann::ordered_json plan_json(const Topology& topology,
                                               const ForecastPlan& planned);

}  // namespace espalier
