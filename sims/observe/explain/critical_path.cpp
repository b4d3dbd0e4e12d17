#include "sims/observe/explain/critical_path.h"

#include <algorithm>

namespace espalier {

namespace {

// From being in memory back to being there to be added; a Gather's is the same cycle.
void back_from_memory(const RunRecord& record, RecordIndex message, Trail& trail) {
  const MessageRecord& done = record.messages[message];
  if (done.operation.on_arrival != TransferKind::reduce) return;
  Segment segment;
  segment.kind = SegmentKind::reduction;
  segment.message = message;
  segment.vertex = done.operation.to.value();
  trail.add(segment, done.adding);
}

void back_through_hold(const RunRecord& record, RecordIndex message, Trail& trail) {
  Segment segment;
  segment.kind = SegmentKind::dependency;
  segment.message = message;
  segment.vertex = record.messages[message].operation.to.value();
  trail.add(segment, record.messages[message].visible);
}

class Search {
 public:
  Search(const RunRecord& record, const MessageIndex& index, const MessageWalk& walk,
         const IssueCauses& causes)
      : record_(record), index_(index), walk_(walk), causes_(causes) {}

  // The event before one, with the time between explained.
  PathEvent back_from(PathEvent event, Trail& trail) const {
    switch (event.kind) {
      case PathEvent::Kind::done:
        return back_from_done(index_.last_done(event.message), trail);
      case PathEvent::Kind::sent:
        walk_.sent_to_issue(index_.last_sent(event.message), trail);
        return {PathEvent::Kind::issued, event.message};
      case PathEvent::Kind::issued:
        return causes_.back_from_issue(record_.messages[event.message].whole, trail);
      case PathEvent::Kind::start:
        break;
    }
    return {};
  }

 private:
  PathEvent back_from_done(RecordIndex message, Trail& trail) const {
    back_from_memory(record_, message, trail);
    const MessageRecord& done = record_.messages[message];
    if (trail.at() > done.visible) {
      if (const auto event = causes_.back_from_hold(message, trail)) return *event;
      back_through_hold(record_, message, trail);
    }
    walk_.to_issue(message, trail);
    return {PathEvent::Kind::issued, message};
  }

  const RunRecord& record_;
  const MessageIndex& index_;
  const MessageWalk& walk_;
  const IssueCauses& causes_;
};

}  // namespace

CriticalPath critical_path(const RunRecord& record, const MessageIndex& index,
                           const MessageWalk& walk, const IssueCauses& causes) {
  CriticalPath path;
  path.first_issue = kNever;
  PathEvent event{PathEvent::Kind::done, kNowhere};
  for (RecordIndex m = 0; m < record.messages.size(); ++m) {
    const MessageRecord& message = record.messages[m];
    if (message.operation.is_background()) continue;
    path.first_issue = std::min(path.first_issue, message.issued);
    if (event.message != kNowhere && message.done <= path.last_delivery) continue;
    path.last_delivery = message.done;
    event.message = message.whole;
  }
  const Search search(record, index, walk, causes);
  Trail trail(path.last_delivery, path.first_issue);
  while (trail.at() > path.first_issue && event.kind != PathEvent::Kind::start) {
    event = search.back_from(event, trail);
  }
  // The rules have come to a start before their time.
  trail.add({}, path.first_issue);
  path.segments = trail.take();
  return path;
}

std::vector<Segment> account_of(const RunRecord& record, const MessageWalk& walk,
                                RecordIndex message) {
  const MessageRecord& done = record.messages[message];
  Trail trail(done.done, done.issued);
  back_from_memory(record, message, trail);
  back_through_hold(record, message, trail);
  walk.to_issue(message, trail);
  return trail.take();
}

}  // namespace espalier
