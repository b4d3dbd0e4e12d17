#include "sims/observe/explain/issue_causes.h"

#include <numeric>

namespace espalier {

MessageIndex::MessageIndex(const RunRecord& record)
    : record_(record),
      issued_(record.nis.size()),
      arrived_(record.nis.size()),
      last_done_(record.messages.size()),
      last_sent_(record.messages.size()) {
  std::iota(last_done_.begin(), last_done_.end(), 0);
  std::iota(last_sent_.begin(), last_sent_.end(), 0);
  for (RecordIndex m = 0; m < record.messages.size(); ++m) {
    const MessageRecord& message = record.messages[m];
    if (message.operation.is_background()) continue;
    if (message.whole != m) {
      RecordIndex& done = last_done_[message.whole];
      if (message.done > record.messages[done].done) done = m;
      RecordIndex& sent = last_sent_[message.whole];
      if (message.sent > record.messages[sent].sent) sent = m;
      continue;
    }
    const Operation& operation = message.operation;
    issued_[operation.from.index()].push_back(m);
    arrived_[message.operation.to.index()].push_back(m);
  }
}

void back_from_post(const NodeClock& clock, Segment segment, Trail& trail) {
  segment.message = kNowhere;
  trail.add(segment.as(SegmentKind::clock_skew), clock.late);
  trail.add(segment.as(SegmentKind::late_start), 0);
}

}  // namespace espalier
