// Which NIs got behind the schedule, and why messages took longer than on an idle, healthy network.
#pragma once

#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/link_timing.h"
#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/issue_causes.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/explain/table_causes.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

struct SystemConfig;

struct UnloadedNetwork {
  const SystemConfig& config;
  const SystemTiming& timing;  // healthy
  const RouteSet& routes;
};

struct DelayCause {
  Segment where;     // the kind, and the place with most cycles of that kind
  Cycle cycles = 0;  // of the kind, beyond those on an idle network; 0: there is no delay
};

// An NI that got behind its schedule, and what kept it.
struct Delay {
  std::uint32_t vertex = kNowhere;  // of the NI that got behind
  Timestep step = 0;                // in which it got behind; 0: there are no timesteps
  Cycle at = 0;                     // when it began the step, or when the message was in memory
  Cycle cycles = 0;                 // by which it got behind in this step
  Cycle behind = 0;                 // the median of all NIs, delays of earlier steps included
  RecordIndex message = kNowhere;   // that the NI waited for; none: the NI itself was late
  DelayCause cause;                 // what kept the NI, or the message
};

// For schedule tables. An NI is behind by the cycles that it begins a step later than the median NI
// with entries in that step. It is delayed where it is further behind than in its step before, and
// further than the sender of the message that it waited for: a delay that travels from NI to NI is
// listed once. A message that no NI waits for is delayed by the cycles that it took longer than
// over an idle, healthy network. Returns the `most` largest, largest first; equal ones by step and
// node.
[[nodiscard]] std::vector<Delay> step_delays(const TableCauses& tables, const RecordedRun& run,
                                             const UnloadedNetwork& network, std::size_t most);

// Every NI with an entry in the timestep, also if it is not behind. The last NI to begin comes
// first.
[[nodiscard]] std::vector<Delay> delays_in_step(const TableCauses& tables, const RecordedRun& run,
                                                const UnloadedNetwork& network, Timestep step);

// Without timesteps: messages that took longer than over an idle, healthy network, and NIs that
// began late. Time in the queue behind earlier messages of the same NI is the plan's own order, not
// a delay.
[[nodiscard]] std::vector<Delay> message_delays(const RecordedRun& run,
                                                const UnloadedNetwork& network,
                                                const std::vector<NodeClock>& clocks,
                                                std::size_t most);

}  // namespace espalier
