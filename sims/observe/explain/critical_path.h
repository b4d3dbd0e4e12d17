// The critical path of a run: from its last event backwards, at each point to the event that was
// waited for last.
#pragma once

#include <vector>

#include "sims/observe/explain/channel_log.h"
#include "sims/observe/explain/issue_causes.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/explain/wait_causes.h"

namespace espalier {

// Walks one message's way back through the network, from its last flit at the receiver to its
// issue. At every router it explains the wait of the flit that decided.
class MessageWalk {
 public:
  // Both must outlive it.
  MessageWalk(const ChannelLog& log, const WaitCauses& waits) : log_(log), waits_(waits) {}

  // From trail.at(), the cycle in which the whole message is visible at the receiver.
  void to_issue(RecordIndex message, Trail& trail) const;
  // From trail.at(), the cycle in which the message's last flit leaves the NI.
  void sent_to_issue(RecordIndex message, Trail& trail) const;

 private:
  struct At {
    std::uint16_t hop;
    std::uint64_t flit;
  };
  // The flit whose arrival completed the message; not always the last, as packets may overtake each
  // other.
  [[nodiscard]] std::uint64_t last_to_arrive(RecordIndex message) const;
  // Explains why the flit left the buffer only at trail.at(): moves `at` to the flit before it, or
  // explains the time back to the flit's arrival in the buffer and returns true.
  bool leave_buffer(Trail& trail, RecordIndex message, At& at) const;
  // From leaving the buffer back to being sent to it.
  void cross(Trail& trail, const Passage& passage, std::uint64_t flit) const;
  // From a flit's departure to the message's issue.
  void through_ni(Trail& trail, RecordIndex message, std::uint64_t flit) const;
  // Ticks from one flit to the next at the output that the flits of `passage` take.
  [[nodiscard]] Tick output_rate(const Passage& passage) const;
  [[nodiscard]] Segment at_output(SegmentKind kind, const Passage& passage) const;

  const ChannelLog& log_;
  const WaitCauses& waits_;
};

// From the first issue to the last delivery.
struct CriticalPath {
  Cycle first_issue = 0;
  Cycle last_delivery = 0;
  // In order of time; each begins where the one before ends, from first_issue to last_delivery.
  std::vector<Segment> segments;
};

// Precondition: the collective has sent messages, and all have arrived.
[[nodiscard]] CriticalPath critical_path(const RunRecord& record, const MessageIndex& index,
                                         const MessageWalk& walk, const IssueCauses& causes);

// The segments of one message, from its issue until it is in memory.
[[nodiscard]] std::vector<Segment> account_of(const RunRecord& record, const MessageWalk& walk,
                                              RecordIndex message);

}  // namespace espalier
