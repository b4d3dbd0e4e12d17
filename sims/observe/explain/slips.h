// Where a schedule slips: who got behind there, and what kept it.
#pragma once

#include <vector>

#include "sims/observe/explain/delay.h"
#include "sims/observe/explain/message_index.h"
#include "sims/observe/explain/message_walk.h"
#include "sims/observe/explain/node_clock.h"
#include "sims/observe/explain/table_causes.h"

namespace espalier {

struct Slip {
  std::uint32_t vertex = kNowhere;  // of the NI that got behind
  Timestep step = 0;                // in which; 0: there are no timesteps
  Cycle cycles = 0;                 // by which it got behind
  Cycle behind = 0;                 // behind the median of all NIs then, with what it was before
  RecordIndex message = kNowhere;   // it waited for; none: by itself
  Delay delay;                      // what kept it, or that message
};

// Of schedule tables, against the timestep: an NI is behind by as much as it begins a step later
// than the median NI that has entries in it. It slips where it is further behind than in its step
// before, and than whoever sent what it waited for was: a slip that goes on from NI to NI is one. A
// message that nobody waits for slips by what it took longer than over an idle, healthy network, as
// below. The `most` largest, largest first; equal ones by step and node.
[[nodiscard]] std::vector<Slip> step_slips(const TableCauses& tables, const RunRecord& record,
                                           const MessageIndex& index, const MessageWalk& walk,
                                           const UnloadedNetwork& network, std::size_t most);

// Without timesteps: messages that took longer than over an idle, healthy network, and NIs that
// began late. Time behind messages that the same NI had issued before is the plan's own order, not
// a slip: what held those up is one of theirs.
[[nodiscard]] std::vector<Slip> message_slips(const RunRecord& record, const MessageIndex& index,
                                              const MessageWalk& walk,
                                              const UnloadedNetwork& network,
                                              const std::vector<NodeClock>& clocks,
                                              std::size_t most);

}  // namespace espalier
