// The schedule tables of a configuration's algorithm.
#pragma once

#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

// Precondition: the algorithm fits the topology (the reader checked it).
// `algorithm: auto`: the tables of the fastest schedule. Schedules are ranked by planned time;
// where the second one is not planned to take more than twice the time of the first, both are
// simulated on the healthy system, alone and in child processes, and `choice` says what decided. So
// call it before this process simulates.
[[nodiscard]] ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                                             const CollectiveConfig& collective);

// Stores the tables as the NIs' memories do: in rows that repeat, if `ni.table_repeat` is set.
void store_rows(ScheduleTables& tables, const NiConfig& ni);

}  // namespace espalier
