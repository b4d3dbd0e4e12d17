// Where time went: from an event of a run backwards, at each point to the event that was waited for
// last. From the run's last event this is its critical path.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ni/engines/context_program.h"
#include "ni/engines/slot_credits.h"
#include "sims/observe/explain/channel_log.h"
#include "sims/observe/explain/issue_causes.h"
#include "sims/observe/explain/segment.h"

namespace espalier {

struct RouterRules {
  bool shared_input = true;   // the VCs of a port share a crossbar input
  bool whole_packets = true;  // virtual cut-through: credits for a packet, not for a flit
};

// Explains [from, trail.at()): flit `flit` of `at`'s message is in the buffer behind `at`, could
// leave in cycle `from`, and leaves in cycle trail.at().
void wait_at_router(const ChannelLog& log, const RouterRules& rules, Trail& trail, Cycle from,
                    const Passage& at, std::uint64_t flit);
// Explains the same span for a flit that its NI could send over the channel of `at`. A cycle
// without another reason counts as the DMA engine's.
void wait_at_ni(const ChannelLog& log, const RouterRules& rules, Trail& trail, Cycle from,
                const Passage& at, std::uint64_t flit);

// A complete run, with the indexes that every account needs.
class RecordedRun {
 public:
  RecordedRun(const RunRecord& run, const RouterRules& router)
      : record(run), index(record), log(record), rules_(router) {}

  // Walks one message's way back through the network to its issue: from trail.at(), the cycle in
  // which the whole message is visible at the receiver.
  void back_to_issue(RecordIndex message, Trail& trail) const;
  // From trail.at(), the cycle in which the message's last flit leaves the NI.
  void back_from_sent(RecordIndex message, Trail& trail) const;
  // The segments of one message, from its issue until it is in memory.
  [[nodiscard]] std::vector<Segment> account_of(RecordIndex message) const;

  const RunRecord& record;
  const MessageIndex index;
  const ChannelLog log;

 private:
  RouterRules rules_;
};

// A span of time of a run, or of one of its parts, explained without a rest.
struct TimePath {
  Cycle from = 0;
  Cycle to = 0;
  // In order of time; each begins where the one before ends, from `from` to `to`.
  std::vector<Segment> segments;
};

// Explains time backwards, from an event to the event that was waited for last.
class Backtrack {
 public:
  explicit Backtrack(const RecordedRun& run) : run_(run) {}
  virtual ~Backtrack() = default;

  // Explains the time before trail.at(), the cycle of `event`, back to trail.at(), the cycle of the
  // event that it returns.
  [[nodiscard]] virtual PathEvent before(PathEvent event, Trail& trail) const = 0;
  // The last event at an NI, and its cycle; a start if it sends and receives nothing.
  [[nodiscard]] virtual std::pair<Cycle, PathEvent> last_at(NodeId ni) const;
  // From the first issue to the last delivery. Precondition: the collective has sent messages, and
  // all have arrived.
  [[nodiscard]] virtual TimePath whole_run() const;

  // Explains the time from `from` to the event in cycle `to`.
  [[nodiscard]] TimePath path(Cycle from, Cycle to, PathEvent event) const;
  [[nodiscard]] const RecordedRun& run() const { return run_; }

 private:
  const RecordedRun& run_;
};

// For schedule tables and dimension queues. Both must outlive the result.
[[nodiscard]] std::unique_ptr<Backtrack> message_backtrack(const RecordedRun& run,
                                                           const IssueCauses& causes);

// For collective programs: the rules of program contexts (ni/engines/program_context.h), read
// backwards.
struct ProgramBacktrack {
  std::unique_ptr<Backtrack> back;  // whole_run(): from the hosts' call to the last context's end
  std::vector<const ContextRecord::Step*> senders;  // by message: the step that sends it
};

// `slots`: by connection, `clocks`: by node. All must outlive the result. Precondition: the run is
// complete.
[[nodiscard]] ProgramBacktrack program_backtrack(const ContextProgram& program,
                                                 const RecordedRun& run,
                                                 const std::vector<SlotCredits::Spec>& slots,
                                                 const std::vector<NodeClock>& clocks);

}  // namespace espalier
