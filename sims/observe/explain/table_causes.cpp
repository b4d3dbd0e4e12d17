#include "sims/observe/explain/table_causes.h"

#include <algorithm>

namespace espalier {

TableCauses::TableCauses(const ScheduleTables& tables, const RecordedRun& run,
                         std::vector<TableEngine::Spec> engines,
                         const std::optional<AuthorsRules>& authors, std::vector<NodeClock> clocks)
    : record_(run.record),
      index_(run.index),
      engines_(std::move(engines)),
      clocks_(std::move(clocks)),
      programs_(load_tables(tables)),
      nodes_(clocks_.size()),
      number_(run.record.messages.size(), 0),
      authors_(authors) {
  for (const TableProgram& program : programs_) {
    auto& of_entry = waiters_.emplace_back(program.entries.size());
    for (std::uint32_t w = 0; w < program.waiters.size(); ++w) {
      of_entry[program.waiters[w].entry].push_back(w);
    }
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const NodeId node(n);
    frames_.emplace_back(tables, node);
    find_messages(node);
    read_moves(node);
    if (!in_table_order()) read_issues(node);
    OfNode& of_node = nodes_[n];
    for (const RecordIndex m : index_.to(node)) {
      if (record_.messages[m].operation.on_arrival != TransferKind::reduce) continue;
      of_node.reduced.emplace_back(index_.done(m), m);
    }
    std::sort(of_node.reduced.begin(), of_node.reduced.end());
  }
  find_last_before_post();
}

void TableCauses::find_last_before_post() {
  if (posted_step() == 0) return;
  for (RecordIndex m = 0; m < record_.messages.size(); ++m) {
    if (record_.messages[m].operation.is_background() || is_posted_late(step_of(m))) continue;
    const bool is_later =
        last_before_post_ == kNowhere || index_.done(m) > index_.done(last_before_post_);
    if (is_later) last_before_post_ = m;
  }
}

std::optional<EntryCause> TableCauses::late_post_cause(Timestep step, Cycle at) const {
  if (step != posted_step() || last_before_post_ == kNowhere) return std::nullopt;
  const Cycle done = index_.done(last_before_post_);
  if (done + 1 != at) return std::nullopt;
  return EntryCause{SegmentKind::doorbell, {PathEvent::Kind::done, last_before_post_}, 0, done};
}

void TableCauses::find_messages(NodeId node) {
  std::vector<RecordIndex>& messages = nodes_[node.index()].messages;
  for (const Operation& in_table : program(node).sends) {
    const Operation send = frames_[node.index()].in_network(in_table);
    messages.push_back(index_.find(node, send.to, send.flow, send.on_arrival));
  }
  for (std::uint32_t s = 0; s < messages.size(); ++s) {
    if (messages[s] != kNowhere) number_[messages[s]] = s;
  }
}

void TableCauses::read_issues(NodeId node) {
  OfNode& of_node = nodes_[node.index()];
  const auto& entries = program(node).entries;
  of_node.issued.resize(entries.size(), kNever);  // NOPs that issued have the head's time
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (entries[e].num_sends == 0) continue;
    const RecordIndex first = of_node.messages[entries[e].first_send];
    of_node.issued[e] = first == kNowhere ? kNever : record_.messages[first].issued;
  }
  while (!of_node.issued.empty() && of_node.issued.back() == kNever) of_node.issued.pop_back();
}

void TableCauses::read_moves(NodeId node) {
  OfNode& of_node = nodes_[node.index()];
  of_node.entered.push_back(clock(node).start());
  for (const NiRecord::Move& move : record_.nis[node.index()].moves) {
    while (of_node.entered.size() <= move.timestep) of_node.entered.push_back(move.at);
    of_node.issued.resize(move.issued, move.at);
  }
}

std::vector<TableCauses::Awaited> TableCauses::awaited(NodeId node, std::size_t entry) const {
  std::vector<Awaited> events;
  const std::size_t p = programs_.size() == 1 ? 0 : node.index();
  for (const std::uint32_t w : waiters_[p][entry]) {
    const TableEvent event = frames_[node.index()].in_network(programs_[p].waiters[w].event);
    const auto kind = event.is_reduce() ? TransferKind::reduce : TransferKind::copy;
    if (event.is_send()) {
      const RecordIndex message = index_.find(node, event.peer, event.flow, kind);
      events.push_back({{PathEvent::Kind::sent, message}, index_.sent(message)});
    } else {
      const RecordIndex message = index_.find(event.peer, node, event.flow, kind);
      events.push_back({{PathEvent::Kind::done, message}, index_.done(message)});
    }
  }
  return events;
}

std::size_t TableCauses::end_of_step(NodeId node, std::size_t entry) const {
  const auto& entries = program(node).entries;
  std::size_t end = entry;
  while (end != entries.size() && entries[end].step == entries[entry].step) ++end;
  return end;
}

std::size_t TableCauses::last_before_step(NodeId node, std::size_t entry) const {
  const std::vector<Cycle>& issued = nodes_[node.index()].issued;
  std::size_t last = first_of_step(node, entry) - 1;
  for (std::size_t e = first_of_step(node, last); e <= last; ++e) {
    if (issued[e] > issued[last]) last = e;
  }
  return last;
}

std::optional<std::size_t> TableCauses::counted_for(NodeId node, std::size_t entry,
                                                    Cycle at) const {
  const auto& entries = program(node).entries;
  const std::vector<Cycle>& issued = nodes_[node.index()].issued;
  const std::size_t last = last_before_step(node, entry);
  const Cycle counts = step_time(node, entries[last].step);
  if (counts == 0) return std::nullopt;
  if (engine(node).lockstep != LockstepMode::nop) {
    const std::size_t loader = first_of_step(node, last);
    if (issued[loader] + counts != at) return std::nullopt;
    return loader;
  }
  if (entries[last].op != TableOp::nop) return std::nullopt;
  Cycle from = issued[last];
  if (last != 0) {
    const std::size_t sent = last_before_step(node, last);
    if (entries[sent].op != TableOp::nop) from = issued[sent] + counts;
  }
  if (from + counts != at) return std::nullopt;
  return last;
}

EntryCause TableCauses::issue_cause(SegmentKind kind, NodeId node, std::size_t entry) const {
  return {kind, {PathEvent::Kind::issued, kNowhere}, entry, nodes_[node.index()].issued[entry]};
}

EntryCause TableCauses::release_cause(SegmentKind kind, RecordIndex message) const {
  const MessageRecord& released = record_.messages[message];
  if (released.released == kNever) {
    return {kind, {PathEvent::Kind::sent, message}, 0, index_.sent(message)};
  }
  return {kind, {PathEvent::Kind::issued, kNowhere}, entry_of(message), released.issued};
}

std::optional<std::size_t> TableCauses::issued_before(NodeId node, std::size_t entry) const {
  const std::vector<Cycle>& issued = nodes_[node.index()].issued;
  const std::size_t first = in_table_order() ? entry - 1 : first_of_step(node, entry);
  const std::size_t end = in_table_order() ? entry : end_of_step(node, entry);
  for (std::size_t e = first; e < std::min(end, issued.size()); ++e) {
    if (issued[e] + 1 == issued[entry] || (e < entry && issued[e] == issued[entry])) return e;
  }
  return std::nullopt;
}

std::size_t TableCauses::first_of_step(NodeId node, std::size_t entry) const {
  const auto& entries = program(node).entries;
  while (entry != 0 && entries[entry - 1].step == entries[entry].step) --entry;
  return entry;
}

EntryCause TableCauses::cause(NodeId node, std::size_t entry) const {
  const auto& entries = program(node).entries;
  const OfNode& of_node = nodes_[node.index()];
  const Cycle issued = of_node.issued[entry];
  for (const Awaited& awaited : awaited(node, entry)) {
    if (awaited.at + 1 + turnaround(node, entry) == issued) {
      return {SegmentKind::dependency, awaited.event, 0, awaited.at};
    }
  }
  const Cycle entered = of_node.entered[entries[entry].step];
  if (entries[entry].not_before_ps != 0 && engine(node).slot_clock_hertz != 0 &&
      entered + slot_cycles(entries[entry].not_before_ps, engine(node).slot_clock_hertz) ==
          issued) {
    return {SegmentKind::slot, {}, entry, entered};
  }
  const bool begins_step = !in_table_order() || first_of_step(node, entry) == entry;
  if (begins_step && of_node.entered[entries[entry].step] == issued) {
    return step_cause(node, first_of_step(node, entry));
  }
  // The memory had just given the entry.
  const std::uint32_t passed = entries[entry].rows_passed;
  if (entry != 0 && passed != 0 &&
      of_node.issued[entry - 1] + rows_cycles(passed, engine(node).issue_per_cycle) == issued) {
    return issue_cause(SegmentKind::passed_rows, node, entry - 1);
  }
  for (std::uint32_t s = 0; s < entries[entry].num_sends; ++s) {
    const RecordIndex mine = message_of(node, entries[entry].first_send + s);
    const std::uint32_t channel =
        authors_ && authors_->takes_any_port ? kNowhere : record_.messages[mine].channel;
    const RecordIndex before = index_.released_at(node, issued - 1, channel);
    if (before != kNowhere) return release_cause(SegmentKind::ni_queue, before);
  }
  if (entry != 0) {
    const std::optional<std::size_t> follows = issued_before(node, entry);
    const std::size_t before = follows.value_or(entry - 1);
    EntryCause cause =
        issue_cause(follows ? SegmentKind::issue : SegmentKind::unexplained, node, before);
    cause.at = std::min(cause.at, issued);
    return cause;
  }
  return {SegmentKind::unexplained, {}, 0, 0};
}

// Preconditions: the entry begins its timestep, and issued in the cycle in which the timestep
// began.
EntryCause TableCauses::step_cause(NodeId node, std::size_t entry) const {
  const auto& entries = program(node).entries;
  const OfNode& of_node = nodes_[node.index()];
  const Timestep step = entries[entry].step;
  const LockstepMode lockstep = engine(node).lockstep;
  const auto& releases = engine(node).releases;
  const auto posted = [&](Timestep s, Cycle at) {
    return std::any_of(releases.begin(), releases.end(),
                       [&](const auto& release) { return release.step == s && release.at == at; });
  };
  // Steps without entries take a cycle each: the cause kept the NI from the first step after
  // `last`.
  const Timestep last = entry == 0 ? 0 : entries[entry - 1].step;
  Cycle since = of_node.entered[last + 1];
  for (Timestep s = step; s > last + 1; --s) {
    if (of_node.entered[s] == of_node.entered[s - 1] + 1) continue;
    if (posted(s, of_node.entered[s])) {
      return {SegmentKind::doorbell, {}, entry, of_node.entered[s]};
    }
    if (const auto cause = late_post_cause(s, of_node.entered[s])) return *cause;
    return {SegmentKind::unexplained,
            {PathEvent::Kind::issued, kNowhere},
            entry - 1,
            entry == 0 ? 0 : of_node.issued[last_before_step(node, entry)]};
  }
  if (entry == 0) {
    // The first collective's doorbell is its post.
    const bool is_post = releases.empty() || releases.front().at == clock(node).start();
    return {is_post ? SegmentKind::late_start : SegmentKind::doorbell, {}, entry, since};
  }
  if (const auto loader = counted_for(node, entry, since)) {
    return issue_cause(SegmentKind::lockstep, node, *loader);
  }
  if (lockstep != LockstepMode::off) {
    const auto reduced = std::lower_bound(of_node.reduced.begin(), of_node.reduced.end(),
                                          std::make_pair(since, RecordIndex{0}));
    if (reduced != of_node.reduced.end() && reduced->first == since &&
        lockstep != LockstepMode::nop) {
      return {SegmentKind::lockstep, {PathEvent::Kind::done, reduced->second}, 0, since};
    }
    const bool waits_for_ports = lockstep == LockstepMode::drain || lockstep == LockstepMode::nop;
    const RecordIndex sent = index_.released_at(node, since - 1);
    if (sent != kNowhere && waits_for_ports) return release_cause(SegmentKind::lockstep, sent);
  }
  if (posted(last + 1, since)) return {SegmentKind::doorbell, {}, entry, since};
  if (const auto cause = late_post_cause(last + 1, since)) return *cause;
  const std::size_t before = last_before_step(node, entry);
  const bool follows = of_node.issued[before] + 1 == since;
  return issue_cause(follows ? SegmentKind::issue : SegmentKind::unexplained, node, before);
}

std::size_t TableCauses::entry_of_send(NodeId node, std::size_t send) const {
  const auto& entries = program(node).entries;
  const auto after = std::upper_bound(
      entries.begin(), entries.end(), send,
      [](std::size_t s, const ProgramEntry& entry) { return s < entry.first_send; });
  return static_cast<std::size_t>(after - entries.begin()) - 1;
}

std::size_t TableCauses::entry_of(RecordIndex message) const {
  return entry_of_send(record_.messages[message].operation.from, number_[message]);
}

Timestep TableCauses::step_of(RecordIndex message) const {
  return program(record_.messages[message].operation.from).entries[entry_of(message)].step;
}

PathEvent TableCauses::back_from_issue(RecordIndex message, Trail& trail) const {
  const NodeId node = record_.messages[message].operation.from;
  std::size_t entry = entry_of_send(node, number_[message]);
  Segment segment = Segment::at(SegmentKind::unexplained, message, node);
  while (true) {
    EntryCause why = cause(node, entry);
    if (why.kind == SegmentKind::slot) {
      trail.add(segment.as(why.kind), why.at);
      entry = first_of_step(node, entry);
      why = step_cause(node, entry);
    }
    if (why.event.kind == PathEvent::Kind::start) {
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

// The NI held the Reduce until the flows before it were complete: until their last message was
// done.
std::optional<PathEvent> TableCauses::back_from_hold(RecordIndex message, Trail& trail) const {
  for (const RecordIndex other : index_.to(record_.messages[message].operation.to)) {
    if (index_.done(other) == trail.at()) return PathEvent{PathEvent::Kind::done, other};
  }
  return std::nullopt;
}

}  // namespace espalier
