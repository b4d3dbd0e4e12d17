// Member `training` of a coordinated job's result (docs/results.md).
#pragma once

#include <nlohmann/json.hpp>

#include "sims/point/config.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

// What went over the simulated network; the other in closed form.
struct JobPlanes {
  bool control = true;
  bool data = true;
};

// Also `cycles`, `time_ns`, `coordination`. Times are withdrawn where the job did not end.
void describe_coordination(nlohmann::ordered_json& result, const RunPoint& point,
                           const TrainingJob& job, const TrainingRecord& record,
                           const JobPlanes& planes);

}  // namespace espalier
