// A program's steps and requests as a run's record has them, with the messages and slots that tie
// them together.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ni/engines/context_program.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

// Of all contexts together; both number from 0.
using StepIndex = std::size_t;
using RequestIndex = std::size_t;
inline constexpr std::size_t kNone = ~std::size_t{0};

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
    // Of the slots of its sending connection, where it begins one: which one.
    std::size_t slot = kNone;
    const RequestTimes* times = nullptr;
  };

  // Both must outlive it: of a run that has come to its end.
  ProgramIndex(const ContextProgram& program, const RunRecord& record);

  [[nodiscard]] const RunRecord& record() const { return record_; }
  [[nodiscard]] const Step& step(StepIndex s) const { return steps_[s]; }
  [[nodiscard]] const Request& request(RequestIndex r) const { return requests_[r]; }
  [[nodiscard]] std::size_t num_steps() const { return steps_.size(); }
  // Of a pass of a block; kNone where there is none.
  [[nodiscard]] StepIndex find(NodeId rank, const StepPlace& place) const;
  // [first, last) of a context.
  [[nodiscard]] std::pair<StepIndex, StepIndex> steps_of(NodeId rank, std::size_t block) const;
  // That sends a message.
  [[nodiscard]] RequestIndex sender(RecordIndex message) const { return senders_[message]; }
  // That gives the `n`-th slot of a connection back, counted from 0; kNone where none does.
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

}  // namespace espalier
