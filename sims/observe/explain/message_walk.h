// One message's way back through the network, from its last flit at the receiver to its issue: at
// every router, what the flit that decided waited for last.
#pragma once

#include "sims/observe/explain/passages.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/explain/wait_causes.h"

namespace espalier {

class MessageWalk {
 public:
  // Both must outlive it.
  MessageWalk(const Passages& passages, const WaitCauses& waits)
      : passages_(passages), waits_(waits) {}

  // From the cycle in which all of it is visible. Precondition of both: trail.at() is that cycle.
  void to_issue(RecordIndex message, Trail& trail) const;
  // From the cycle in which its last flit leaves the NI.
  void sent_to_issue(RecordIndex message, Trail& trail) const;

 private:
  struct At {
    std::uint16_t hop;
    std::uint64_t flit;
  };
  // The flit whose arrival made the message whole: packets may overtake each other.
  [[nodiscard]] std::uint64_t last_to_arrive(RecordIndex message) const;
  // Why the flit left the buffer only at trail.at(): steps back to the flit before it, or to the
  // time it came there. True where that has come out.
  bool leave_buffer(Trail& trail, RecordIndex message, At& at) const;
  // From leaving the buffer back to being sent to it.
  void cross(Trail& trail, const Passage& passage, std::uint64_t flit) const;
  // From a flit's departure to the message's issue.
  void through_ni(Trail& trail, RecordIndex message, std::uint64_t flit) const;
  // Ticks from one flit to the next at the output that the flits of `passage` take.
  [[nodiscard]] Tick output_rate(const Passage& passage) const;
  [[nodiscard]] Segment at_output(SegmentKind kind, const Passage& passage) const;

  const Passages& passages_;
  const WaitCauses& waits_;
};

}  // namespace espalier
