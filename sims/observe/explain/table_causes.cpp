#include "sims/observe/explain/table_causes.h"

#include <algorithm>
#include <utility>

namespace espalier {

TableCauses::TableCauses(const ScheduleTables& tables, const RecordedRun& run,
                         std::vector<NodeClock> clocks)
    : record_(run.record),
      index_(run.index),
      clocks_(std::move(clocks)),
      programs_(load_tables(tables)) {}

EntryCause TableCauses::port_cause(SegmentKind kind, NodeId node, const Released& why) const {
  if (why.message == kNowhere) return issue_cause(kind, node, why);
  const MessageRecord& message = record_.messages[why.message];
  if (message.released == kNever) {
    return {kind, {PathEvent::Kind::sent, message.whole}, 0, message.sent};
  }
  return {kind, {PathEvent::Kind::issued, kNowhere}, message.entry, message.issued};
}

EntryCause TableCauses::issue_cause(SegmentKind kind, NodeId node, const Released& why) const {
  if (why.after == kNowhere) return {};
  const Cycle before = issued_at(node, why.after);
  if (kind == SegmentKind::issue && before + 1 < why.at) kind = SegmentKind::unexplained;
  return {kind, {PathEvent::Kind::issued, kNowhere}, why.after, before};
}

std::size_t TableCauses::first_of_step(NodeId node, std::size_t entry) const {
  const auto& entries = program(node).entries;  // of ascending steps
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(entry);
  const auto first =
      std::lower_bound(entries.begin(), end, entries[entry].step,
                       [](const ProgramEntry& each, Timestep step) { return each.step < step; });
  return static_cast<std::size_t>(first - entries.begin());
}

EntryCause TableCauses::cause(NodeId node, std::size_t entry) const {
  const Released& why = record_of(node, entry);
  switch (why.why) {
    case Release::event:
      return event_cause(SegmentKind::dependency, index_.event_at(node, why.message));
    case Release::slot:
      return {SegmentKind::slot,
              {},
              entry,
              record_.nis[node.index()].steps[program(node).entries[entry].step].at};
    case Release::step:
      return step_cause(node, entry);
    case Release::port:
    case Release::any_port:
      return port_cause(SegmentKind::ni_queue, node, why);
    case Release::rows:
      return issue_cause(SegmentKind::passed_rows, node, why);
    default:
      return issue_cause(SegmentKind::issue, node, why);
  }
}

// Why the timestep of the entry began. Steps without entries take a cycle each.
EntryCause TableCauses::step_cause(NodeId node, std::size_t entry) const {
  const auto& steps = record_.nis[node.index()].steps;
  const auto& entries = program(node).entries;
  const std::size_t first = first_of_step(node, entry);
  const Timestep last = first == 0 ? 0 : entries[first - 1].step;
  Timestep step = entries[entry].step;
  while (steps[step].why == Release::order && step > last + 1 &&
         steps[step].at == steps[step - 1].at + 1) {
    --step;
  }
  const Released& why = steps[step];
  switch (why.why) {
    case Release::counter:
      return issue_cause(SegmentKind::lockstep, node, why);
    case Release::reduction:
      return event_cause(SegmentKind::lockstep, {PathEvent::Kind::done, why.message});
    case Release::any_port:
      return port_cause(SegmentKind::lockstep, node, why);
    case Release::post:
      return event_cause(SegmentKind::doorbell, {PathEvent::Kind::done, why.message});
    case Release::start:
    case Release::doorbell: {
      // The first collective's doorbell is its post.
      const bool is_post = first == 0 && why.at == clock(node).start();
      return {is_post ? SegmentKind::late_start : SegmentKind::doorbell, {}, first, why.at};
    }
    default:
      return issue_cause(SegmentKind::issue, node, why);
  }
}

PathEvent TableCauses::back_from_issue(RecordIndex message, Trail& trail) const {
  const NodeId node = record_.messages[message].operation.from;
  std::size_t entry = record_.messages[message].entry;
  Segment segment = Segment::at(SegmentKind::unexplained, message, node);
  while (true) {
    EntryCause why = cause(node, entry);
    if (why.kind == SegmentKind::slot) {
      trail.add(segment.as(why.kind), why.at);
      entry = first_of_step(node, entry);
      why = step_cause(node, entry);
    }
    if (why.event.kind == PathEvent::Kind::start) {
      if (why.kind == SegmentKind::unexplained) return why.event;
      // The issue follows the post at once, or after a few empty steps.
      trail.add(segment.as(SegmentKind::issue), why.at);
      if (why.kind == SegmentKind::late_start) {
        back_from_post(clock(node), segment, trail);
      } else {
        const Cycle late = why.entry == 0 ? clock(node).late : 0;
        segment.message = kNowhere;
        trail.add(segment.as(SegmentKind::clock_skew), why.at - std::min(why.at, clock(node).skew));
        trail.add(segment.as(SegmentKind::late_start),
                  why.at - std::min(why.at, clock(node).skew + late));
        trail.add(segment.as(why.kind), 0);
      }
      return why.event;
    }
    if (why.kind == SegmentKind::lockstep && why.event.kind == PathEvent::Kind::issued) {
      trail.add(segment.as(SegmentKind::clock_skew),
                trail.at() - std::min(trail.at(), clock(node).per_step));
    }
    trail.add(segment.as(why.kind), why.at);
    if (why.event.kind != PathEvent::Kind::issued) return why.event;
    entry = why.entry;
  }
}

}  // namespace espalier
