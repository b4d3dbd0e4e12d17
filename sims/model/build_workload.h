// Builds a workload from its configuration.
#pragma once

#include "sims/point/training_config.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// Preconditions: point.workload is set, and model_npus divides the dimensions that it is taken
// from.
[[nodiscard]] Workload build_workload(const WorkloadConfig& config);
// NPUs of a model-parallel group; 1 if the workload has no such groups.
[[nodiscard]] std::uint64_t model_npus_of(const WorkloadConfig& config);

}  // namespace espalier
