// Fields of a coordinated job's result (docs/results.md).
#pragma once

#include <nlohmann/json.hpp>

#include "sims/point/config.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

// Which traffic used the simulated network. The other traffic took the time of a closed form.
struct JobPlanes {
  bool control = true;
  bool data = true;
};

// Writes `training`, `cycles`, `time_ns` and `coordination`. Times are null if the job did not end.
void describe_coordination(nlohmann::ordered_json& result, const RunPoint& point,
                           const TrainingJob& job, const TrainingRecord& record,
                           const JobPlanes& planes);

}  // namespace espalier
