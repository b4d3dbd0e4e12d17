// What the lockstep down-counter is loaded with, step by step.
#pragma once

#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/link_timing.h"
#include "sims/point/config.h"

namespace espalier {

// estimate: the serialization time of the step's longest message if the NI buffer can hold it, else
// that of the flits it cannot hold (paper, footnote 4). full: serialization, flight over idle links
// and reduction of the step, so that the next one finds everything in place, unless messages have
// to wait for each other. Slow links count as slow. By step, index 0 is step 1; zeros where the
// mode does not count.
[[nodiscard]] std::vector<Cycle> step_times(const ScheduleTables& tables,
                                            const SystemConfig& config, const SystemTiming& timing);

// Cycles from the issue of a message to the visibility of its last flit over an idle route, less
// its serialization.
[[nodiscard]] Cycle idle_overhead(const SystemConfig& config, const SystemTiming& timing,
                                  const RouteSet& routes, RouteId route);

}  // namespace espalier
