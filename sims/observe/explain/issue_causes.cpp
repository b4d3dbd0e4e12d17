#include "sims/observe/explain/issue_causes.h"

#include <algorithm>
#include <numeric>

#include "sims/observe/explain/segment.h"

namespace espalier {

MessageIndex::MessageIndex(const RunRecord& record)
    : record_(record),
      issued_(record.nis.size()),
      arrived_(record.nis.size()),
      last_done_(record.messages.size()),
      last_sent_(record.messages.size()),
      sent_(record.nis.size()),
      released_(record.nis.size()) {
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
    keys_.push_back(
        {{operation.from, message.operation.to, operation.flow, operation.on_arrival}, m});
  }
  std::sort(keys_.begin(), keys_.end());
  for (std::size_t v = 0; v < issued_.size(); ++v) {
    for (const RecordIndex m : issued_[v]) {
      sent_[v].emplace_back(sent(m), m);
      released_[v].emplace_back(released(m), m);
    }
    std::sort(sent_[v].begin(), sent_[v].end());
    std::sort(released_[v].begin(), released_[v].end());
  }
}

RecordIndex MessageIndex::sent_at(NodeId vertex, Cycle at, std::uint32_t channel) const {
  return in_cycle(sent_[vertex.index()], at, channel);
}

RecordIndex MessageIndex::released_at(NodeId vertex, Cycle at, std::uint32_t channel) const {
  return in_cycle(released_[vertex.index()], at, channel);
}

RecordIndex MessageIndex::in_cycle(const ByCycle& messages, Cycle at, std::uint32_t channel) const {
  for (auto s =
           std::lower_bound(messages.begin(), messages.end(), std::make_pair(at, RecordIndex{0}));
       s != messages.end() && s->first == at; ++s) {
    if (channel == kNowhere || record_.messages[s->second].channel == channel) return s->second;
  }
  return kNowhere;
}

RecordIndex MessageIndex::find(NodeId from, NodeId to, FlowId flow, TransferKind kind) const {
  const Key key{from, to, flow, kind};
  const auto found =
      std::lower_bound(keys_.begin(), keys_.end(), std::make_pair(key, RecordIndex{0}));
  return found != keys_.end() && found->first == key ? found->second : kNowhere;
}

void back_from_post(const NodeClock& clock, Segment segment, Trail& trail) {
  segment.message = kNowhere;
  trail.add(segment.as(SegmentKind::clock_skew), clock.late);
  trail.add(segment.as(SegmentKind::late_start), 0);
}

}  // namespace espalier
