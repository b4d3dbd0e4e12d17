// Why a network interface issued a message when it did: the parts that tables, dimension queues and
// programs share.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

// The event that was waited for last.
struct PathEvent {
  enum class Kind : std::uint8_t {
    start,   // the host posted the collective
    issued,  // a message was issued
    sent,    // a message's last flit left its NI
    done,    // a message was in memory
    ended    // a program's step ended
  };
  Kind kind = Kind::start;
  RecordIndex message = kNowhere;  // ended: the step's number over all contexts
};

// The collective's messages. An operation over parallel links has one message for each link; the
// first message stands for the operation.
class MessageIndex {
 public:
  // `record` must outlive it.
  explicit MessageIndex(const RunRecord& record);

  // The messages from a vertex, and the messages to it, in order of issue.
  [[nodiscard]] const std::vector<RecordIndex>& of(NodeId vertex) const {
    return issued_[vertex.index()];
  }
  [[nodiscard]] const std::vector<RecordIndex>& to(NodeId vertex) const {
    return arrived_[vertex.index()];
  }
  // The messages of `message`'s operation that arrive last and leave last.
  [[nodiscard]] RecordIndex last_done(RecordIndex message) const { return last_done_[message]; }
  [[nodiscard]] RecordIndex last_sent(RecordIndex message) const { return last_sent_[message]; }
  // When the whole operation was in memory, and when it had left the NI.
  [[nodiscard]] Cycle done(RecordIndex message) const {
    return record_.messages[last_done_[message]].done;
  }
  [[nodiscard]] Cycle sent(RecordIndex message) const {
    return record_.messages[last_sent_[message]].sent;
  }
  // The event for which a vertex waits with a message: that its own message leaves, or that another
  // vertex's message is in memory.
  [[nodiscard]] PathEvent event_at(NodeId vertex, RecordIndex message) const {
    const bool is_own = record_.messages[message].operation.from == vertex;
    return {is_own ? PathEvent::Kind::sent : PathEvent::Kind::done, message};
  }

 private:
  const RunRecord& record_;
  std::vector<std::vector<RecordIndex>> issued_;   // by vertex
  std::vector<std::vector<RecordIndex>> arrived_;  // by vertex
  std::vector<RecordIndex> last_done_;             // by message
  std::vector<RecordIndex> last_sent_;
};

// When a node's host posts its collectives, and how wrong the node's clock is.
struct NodeClock {
  Cycle late = 0;      // cycles by which the host posts late
  Cycle skew = 0;      // cycles by which the clock is behind
  Cycle per_step = 0;  // additional cycles of the down-counter in each timestep

  [[nodiscard]] Cycle start() const { return late + skew; }
};

// Explains the time before trail.at(), the cycle in which a node's host posted its first
// collective.
void back_from_post(const NodeClock& clock, Segment segment, Trail& trail);

class IssueCauses {
 public:
  virtual ~IssueCauses() = default;
  // Explains the time between trail.at(), the issue of `message`, and the event that allowed it.
  // Afterwards trail.at() is the cycle of that event.
  [[nodiscard]] virtual PathEvent back_from_issue(RecordIndex message, Trail& trail) const = 0;
  // A Reduce was held beside memory until trail.at(), and not for a message. Explains the time
  // since the event that let the NI add the Reduce, and returns that event; nothing if no rule held
  // it.
  [[nodiscard]] virtual std::optional<PathEvent> back_from_hold(RecordIndex /*message*/,
                                                                Trail& /*trail*/) const {
    return std::nullopt;
  }
};

class DimensionProgram;

// The causes in a multi-dimensional system. All references must outlive the result. `clocks`: by
// node. `arbitration`: cycles from a ready stage and a free place to the stage's first operation.
[[nodiscard]] std::unique_ptr<IssueCauses> dimension_causes(const DimensionProgram& program,
                                                            const RunRecord& record,
                                                            const MessageIndex& index,
                                                            const std::vector<NodeClock>& clocks,
                                                            Cycle arbitration);

}  // namespace espalier
