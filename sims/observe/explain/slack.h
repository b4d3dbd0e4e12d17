// By how many cycles each NI could have issued each timestep later without moving the collective's
// end.
#pragma once

#include <vector>

#include "sims/observe/explain/table_causes.h"

namespace espalier {

struct StepSlack {
  Timestep step = 0;
  NodeId node;
  Cycle slack = 0;  // the smallest of the step's entries there
};

// The critical-path method: every message takes as long as it did, its time in the NI's queue
// included, and tables and counters keep their rules. Sorted by timestep, then node. A node is left
// out of the steps in which it has nothing that the end depends on.
[[nodiscard]] std::vector<StepSlack> step_slack(const TableCauses& tables, const RunRecord& record,
                                                const MessageIndex& index);

}  // namespace espalier
