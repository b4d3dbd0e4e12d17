// What the lockstep down-counter is loaded with, step by step.
#pragma once

#include <vector>

#include "alg/schedule_table.h"
#include "sims/config/config.h"

namespace espalier {

// estimate: the flits of the step's chunk if the NI buffer can hold them, else the flits less the
// NI buffer (paper,
//   footnote 4). full: serialization, zero-load latency and reduction of the step, so that the next
//   one finds everything in place. By step, index 0 is step 1; zeros where the mode does not count.
[[nodiscard]] std::vector<Cycle> step_times(const ScheduleTables& tables,
                                            const SystemConfig& config, Cycle link_latency);

// Cycles from the issue of a message to the visibility of its last flit over one idle hop, less its
// number of flits.
[[nodiscard]] Cycle one_hop_overhead(const SystemConfig& config, Cycle link_latency);

}  // namespace espalier
