// The chain of events that decided when a program was over: from the last step of its last context
// back to the hosts' call. The rules of program contexts (ni/engines/program_context.h), read
// backwards.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ni/engines/slot_credits.h"
#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/message_walk.h"
#include "sims/observe/explain/node_clock.h"
#include "sims/observe/explain/program_index.h"

namespace espalier {

class ProgramPath {
 public:
  struct Spec {
    std::vector<SlotCredits::Spec> slots;  // by connection
    std::vector<NodeClock> clocks;         // by node
  };
  // All but `spec` must outlive it.
  ProgramPath(const ContextProgram& program, const ProgramIndex& index, const MessageWalk& walk,
              Spec spec);

  // Of a program that took `cycles` from the hosts' call, in cycle 0.
  [[nodiscard]] CriticalPath find(Cycle cycles) const;

 private:
  // In the cycle in which the trail stands.
  struct Event {
    enum class Kind : std::uint8_t {
      start,         // the host's call
      turn,          // a step has its turn
      decoded,       // a step is
      started,       // a request is
      worked,        // memory and ALU are done with a request, and a message is issued
      ended,         // a request has
      step_ended,    // a step has
      message_sent,  // its last flit has left its NI
      message_arrived
    };
    Kind kind = Kind::start;
    std::size_t of = kNone;  // step, request or message
  };

  [[nodiscard]] Event back_from(Event event, Trail& trail) const;
  [[nodiscard]] Event back_from_turn(StepIndex s, Trail& trail) const;
  [[nodiscard]] Event back_from_decoded(StepIndex s, Trail& trail) const;
  [[nodiscard]] Event back_from_started(RequestIndex r, Trail& trail) const;
  [[nodiscard]] Event back_from_ready(RequestIndex r, Trail& trail) const;
  [[nodiscard]] Event back_from_worked(RequestIndex r, Trail& trail) const;
  [[nodiscard]] Event back_from_ended(RequestIndex r, Trail& trail) const;
  [[nodiscard]] Event back_from_step(StepIndex s) const;
  [[nodiscard]] Event back_from_launch(StepIndex s, Trail& trail) const;
  // The request that gave the slot back which `r` took in cycle `at`; kNone where that was earlier.
  [[nodiscard]] RequestIndex slot_giver(RequestIndex r, Cycle at) const;
  // A request could not begin before `r` had ended: latency of `r` that another one would have
  // hidden is the limit's.
  [[nodiscard]] Event back_through_limit(RequestIndex r, Trail& trail) const;
  [[nodiscard]] bool is_own_latency(const Segment& segment, StepIndex s) const;
  // The message whose last flit had left in the cycle before, and made room for `message`.
  [[nodiscard]] RecordIndex made_room(RecordIndex message, Cycle at) const;
  [[nodiscard]] Segment at_step(SegmentKind kind, StepIndex s) const;
  [[nodiscard]] Segment at_request(SegmentKind kind, RequestIndex r) const;
  [[nodiscard]] const RequestTimes& times(RequestIndex r) const { return *index_.request(r).times; }

  const ContextProgram& program_;
  const ProgramIndex& index_;
  const MessageWalk& walk_;
  Spec spec_;
  std::vector<std::vector<std::pair<Cycle, RecordIndex>>> sent_;  // by channel, in order
};

}  // namespace espalier
