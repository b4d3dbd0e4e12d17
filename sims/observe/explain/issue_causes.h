// Why an NI issued a message when it did.
#pragma once

#include <optional>

#include "sims/observe/explain/node_clock.h"
#include "sims/observe/explain/segment.h"
#include "sims/observe/record/run_record.h"

namespace espalier {

// Explains the time up to trail.at(), when the host of a node posted its first collective.
void back_from_post(const NodeClock& clock, Segment segment, Trail& trail);

// What was waited for last.
struct PathEvent {
  enum class Kind : std::uint8_t {
    start,   // nothing: the host's post
    issued,  // a message was
    sent,    // a message's last flit left its NI
    done     // a message was in memory
  };
  Kind kind = Kind::start;
  RecordIndex message = kNowhere;
};

class IssueCauses {
 public:
  virtual ~IssueCauses() = default;
  // Explains the time from the event that let `message` go to its issue, trail.at(); the event's
  // own cycle is trail.at() then.
  [[nodiscard]] virtual PathEvent back_from_issue(RecordIndex message, Trail& trail) const = 0;
  // A Reduce was held beside memory up to trail.at(), the cycle in which it could be added: what
  // let it, with the time from that explained; nothing where no rule says so.
  [[nodiscard]] virtual std::optional<PathEvent> back_from_hold(RecordIndex message,
                                                                Trail& trail) const = 0;
};

}  // namespace espalier
