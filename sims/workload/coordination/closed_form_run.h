// A coordinated training job in closed form, for more ranks than a network is simulated for: the
// same decisions (coordination.h) and the same patterns of messages as on the network, whose times
// are arithmetic. All ranks go through an operation of the control plane together, round by round.
#pragma once

#include <functional>

#include "sims/workload/coordination/closed_form.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/training_record.h"

namespace espalier {

// Told of the part of all iterations that is done, 0 to 1.
using JobProgress = std::function<void(double)>;

[[nodiscard]] TrainingRecord run_in_closed_form(const TrainingJob& job, const MessageTime& messages,
                                                const ReductionTime& reductions,
                                                const JobProgress& progress);

}  // namespace espalier
