// The critical path of a run: from its last event backwards, at each point to the event that was
// waited for last.
#pragma once

#include <vector>

#include "ni/engines/context_program.h"
#include "ni/engines/slot_credits.h"
#include "sims/observe/explain/channel_log.h"
#include "sims/observe/explain/issue_causes.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/explain/wait_causes.h"

namespace espalier {

// A complete run, with the indexes that every account needs.
class RecordedRun {
 public:
  RecordedRun(const RunRecord& run, const RouterRules& router)
      : record(run), index(record), log_(record), rules_(router) {}

  // Walks one message's way back through the network to its issue: from trail.at(), the cycle in
  // which the whole message is visible at the receiver.
  void back_to_issue(RecordIndex message, Trail& trail) const;
  // From trail.at(), the cycle in which the message's last flit leaves the NI.
  void back_from_sent(RecordIndex message, Trail& trail) const;
  // The segments of one message, from its issue until it is in memory.
  [[nodiscard]] std::vector<Segment> account_of(RecordIndex message) const;

  const RunRecord& record;
  const MessageIndex index;

 private:
  ChannelLog log_;
  RouterRules rules_;
};

// From the first issue to the last delivery.
struct CriticalPath {
  Cycle first_issue = 0;
  Cycle last_delivery = 0;
  // In order of time; each begins where the one before ends, from first_issue to last_delivery.
  std::vector<Segment> segments;
};

// Precondition: the collective has sent messages, and all have arrived.
[[nodiscard]] CriticalPath critical_path(const RecordedRun& run, const IssueCauses& causes);

// The critical path of a collective program: the rules of program contexts
// (ni/engines/program_context.h), read backwards.
struct ProgramPath {
  CriticalPath path;  // from the end of the last context's last step back to the hosts' call
  std::vector<const ContextRecord::Step*> senders;  // by message: the step that sends it
};

// The program took `cycles` from the hosts' call, in cycle 0. `slots`: by connection, `clocks`: by
// node. Precondition: the run is complete.
[[nodiscard]] ProgramPath program_path(const ContextProgram& program, const RecordedRun& run,
                                       const std::vector<SlotCredits::Spec>& slots,
                                       const std::vector<NodeClock>& clocks, Cycle cycles);

}  // namespace espalier
