// algorithm: auto, decided on the machine.
#pragma once

#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

// The tables of the fastest schedule. Schedules are ranked by planned time; where the second one is
// not planned to take twice the time of the first, both are simulated on the healthy system, alone
// and in child processes. `choice` says what decided. Call before this process simulates.
[[nodiscard]] ScheduleTables chosen_tables(const Topology& topology, const SystemConfig& system,
                                           const CollectiveConfig& collective);

}  // namespace espalier
