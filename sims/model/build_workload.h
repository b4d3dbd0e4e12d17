// From a configured workload to what is computed and communicated.
#pragma once

#include "sims/point/config.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// Preconditions: point.workload, its model_npus divide what they share out.
[[nodiscard]] Workload build_workload(const WorkloadConfig& config);
// NPUs of a model-parallel group: 1 where there is none.
[[nodiscard]] std::uint64_t model_npus_of(const WorkloadConfig& config);

}  // namespace espalier
