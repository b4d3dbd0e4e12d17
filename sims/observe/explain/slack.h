// How much later each timestep of each NI could have issued without the collective's end moving.
#pragma once

#include <vector>

#include "sims/observe/explain/table_causes.h"

namespace espalier {

struct StepSlack {
  Timestep step = 0;
  NodeId node;
  Cycle slack = 0;  // the smallest of the step's entries there
};

// As critical-path planning has it: every message takes as long as it took, tables and counters
// keep their rules, and nothing new is in the way: time in an NI's own queue counts as taken. By
// timestep, then node; NIs are left out of steps in which they have nothing that the end depends
// on.
[[nodiscard]] std::vector<StepSlack> step_slack(const TableCauses& tables, const RunRecord& record,
                                                const MessageIndex& index);

}  // namespace espalier
