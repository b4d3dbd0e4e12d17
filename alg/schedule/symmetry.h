// Schedules and tables of which one root's part stands for all (Schedule::symmetry).
#pragma once

#include "alg/schedule/schedule.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"

namespace espalier {

// What node 0 sends and receives in the whole schedule: every transfer of root 0 once moved to
// where node 0 is its sender, and once to where node 0 is its receiver. Chunks stay those of root
// 0.
[[nodiscard]] Schedule fold_onto_first_node(const Schedule& schedule);

// The tables of all nodes as far as they are about root 0's flows: linear in the number of nodes.
// What is proven of them holds for every root. Preconditions: symmetry, one table, and every id in
// it is in range.
[[nodiscard]] ScheduleTables tables_of_first_root(const ScheduleTables& tables);

}  // namespace espalier
