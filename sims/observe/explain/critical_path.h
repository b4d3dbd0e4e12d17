// The chain of events that decided when a run was over, from its last delivery back to its first
// issue.
#pragma once

#include <vector>

#include "sims/observe/explain/issue_causes.h"
#include "sims/observe/explain/message_index.h"
#include "sims/observe/explain/message_walk.h"
#include "sims/observe/explain/segment.h"

namespace espalier {

struct CriticalPath {
  Cycle first_issue = 0;
  Cycle last_delivery = 0;
  // In order of time; each begins where the one before ends, from first_issue to last_delivery.
  std::vector<Segment> segments;
};

// Precondition: there are gradient messages, and all have arrived.
[[nodiscard]] CriticalPath critical_path(const RunRecord& record, const MessageIndex& index,
                                         const MessageWalk& walk, const IssueCauses& causes);

// One message, from its issue until it is in memory, by itself.
[[nodiscard]] std::vector<Segment> account_of(const RunRecord& record, const MessageWalk& walk,
                                              RecordIndex message);

}  // namespace espalier
