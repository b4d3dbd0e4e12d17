// The critical path of a collective program: the rules of program contexts
// (ni/engines/program_context.h), read backwards.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ni/engines/context_program.h"
#include "ni/engines/slot_credits.h"
#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/issue_causes.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

// Numbers of steps and of requests, from 0, over all contexts.
using StepIndex = std::size_t;
using RequestIndex = std::size_t;
inline constexpr std::size_t kNone = ~std::size_t{0};

// A program's recorded steps and requests, with the messages and slots that connect them.
class ProgramIndex {
 public:
  struct Step {
    NodeId rank;
    std::uint32_t in_context = 0;  // in ContextRecord::steps
    RequestIndex first = 0;
    std::size_t requests = 0;
    const ContextRecord::Step* record = nullptr;
  };
  struct Request {
    StepIndex step = 0;
    RecordIndex sends = kNowhere;     // a message
    RecordIndex receives = kNowhere;  // a message
    std::size_t slot = kNone;         // number of the connection's slot that it begins
    const RequestTimes* times = nullptr;
  };

  // Both must outlive it. The run is complete.
  ProgramIndex(const ContextProgram& program, const RunRecord& record);

  [[nodiscard]] const RunRecord& record() const { return record_; }
  [[nodiscard]] const Step& step(StepIndex s) const { return steps_[s]; }
  [[nodiscard]] const Request& request(RequestIndex r) const { return requests_[r]; }
  [[nodiscard]] std::size_t num_steps() const { return steps_.size(); }
  // A step of a pass of a block; kNone if it did not run.
  [[nodiscard]] StepIndex find(NodeId rank, const StepPlace& place) const;
  // A context's steps: [first, last).
  [[nodiscard]] std::pair<StepIndex, StepIndex> steps_of(NodeId rank, std::size_t block) const;
  // The request that sends a message.
  [[nodiscard]] RequestIndex sender(RecordIndex message) const { return senders_[message]; }
  // The request that frees the `n`-th slot of a connection, counted from 0; kNone if none does.
  [[nodiscard]] RequestIndex giver(ConnectionId connection, std::size_t n) const;

 private:
  void add_context(NodeId rank, std::size_t block);

  const ContextProgram& program_;
  const RunRecord& record_;
  std::vector<Step> steps_;
  std::vector<Request> requests_;
  std::vector<std::vector<StepIndex>> first_step_;  // by rank and block; one more at the end
  std::vector<std::vector<RecordIndex>> messages_;  // by connection, in order
  std::vector<RequestIndex> senders_;               // by message
  std::vector<std::vector<RequestIndex>> givers_;   // by connection, in order
};

// From the end of the last context's last step back to the hosts' call.
class ProgramPath {
 public:
  struct Spec {
    std::vector<SlotCredits::Spec> slots;  // by connection
    std::vector<NodeClock> clocks;         // by node
  };
  // All but `spec` must outlive it.
  ProgramPath(const ContextProgram& program, const ProgramIndex& index,
              const MessageIndex& messages, const MessageWalk& walk, Spec spec)
      : program_(program),
        index_(index),
        messages_(messages),
        walk_(walk),
        spec_(std::move(spec)) {}

  // The program took `cycles` from the hosts' call, in cycle 0.
  [[nodiscard]] CriticalPath find(Cycle cycles) const;

 private:
  // An event in cycle trail.at().
  struct Event {
    enum class Kind : std::uint8_t {
      start,         // the host's call
      turn,          // a step has its turn
      decoded,       // a step is decoded
      started,       // a request starts
      worked,        // memory and ALU are done with a request, and a message is issued
      ended,         // a request ends
      step_ended,    // a step ends
      message_sent,  // a message's last flit has left its NI
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
  // The request that freed the slot that `r` took in cycle `at`; kNone if it was free before.
  [[nodiscard]] RequestIndex slot_giver(RequestIndex r, Cycle at) const;
  // The limit of requests in flight kept a request waiting until `r` had ended. Counts latency of
  // `r` as the limit's if another request in flight would have hidden it.
  [[nodiscard]] Event back_through_limit(RequestIndex r, Trail& trail) const;
  [[nodiscard]] bool is_own_latency(const Segment& segment, StepIndex s) const;
  [[nodiscard]] Segment at_step(SegmentKind kind, StepIndex s) const;
  [[nodiscard]] Segment at_request(SegmentKind kind, RequestIndex r) const;
  [[nodiscard]] const RequestTimes& times(RequestIndex r) const { return *index_.request(r).times; }

  const ContextProgram& program_;
  const ProgramIndex& index_;
  const MessageIndex& messages_;
  const MessageWalk& walk_;
  Spec spec_;
};

}  // namespace espalier
