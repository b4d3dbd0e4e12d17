// A training job whose hosts agree on what is all-reduced when: on the simulated network, or in
// closed form.
#pragma once

#include "hw/topology/topology.h"
#include "sims/experiment/point_runner.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"
#include "sims/workload/coordination/coordination_spec.h"

namespace espalier {

// Preconditions of both: the point has coordination, training and a collective.
[[nodiscard]] TrainingJob training_job(const RunPoint& point, std::size_t ranks);
[[nodiscard]] PointReport run_coordination(const Topology& topology, const RunPoint& point,
                                           const SimulationHooks& hooks);

}  // namespace espalier
