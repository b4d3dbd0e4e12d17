// The rules of NIs with schedule tables, read backwards: every condition that became true in the
// cycle in which an entry issued, from the tables and the times of a run alone. The engines note
// one condition; it must be among them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ni/engines/schedule_table_engine.h"
#include "sims/observe/explain/table_causes.h"

namespace espalier::test {

class TableOracle {
 public:
  // The references must outlive it.
  TableOracle(const ScheduleTables& schedule, const TableCauses& tables, const RecordedRun& run,
              const std::vector<TableEngine::Spec>& engines,
              const std::optional<AuthorsRules>& authors, std::size_t queue_depth)
      : tables_(tables),
        record_(run.record),
        index_(run.index),
        engines_(engines),
        authors_(authors),
        queue_depth_(queue_depth) {
    for (RecordIndex m = 0; m < record_.messages.size(); ++m) {
      const Operation& operation = record_.messages[m].operation;
      names_[{operation.from, operation.to, operation.flow, operation.on_arrival}] = m;
    }
    for (std::size_t n = 0; n < tables.num_nodes(); ++n) frames_.emplace_back(schedule, NodeId(n));
  }

  // The messages that the entry sends, by the table.
  [[nodiscard]] std::vector<RecordIndex> sends(NodeId node, std::size_t entry) const {
    const TableProgram& program = tables_.program(node);
    std::vector<RecordIndex> sends;
    for (std::uint32_t s = 0; s < program.entries[entry].num_sends; ++s) {
      const Operation send =
          frames_[node.index()].in_network(program.sends[program.entries[entry].first_send + s]);
      sends.push_back(names_.at({node, send.to, send.flow, send.on_arrival}));
    }
    return sends;
  }
  struct Awaited {
    PathEvent event;
    Cycle at = 0;
  };
  [[nodiscard]] std::vector<Awaited> awaited(NodeId node, std::size_t entry) const {
    std::vector<Awaited> events;
    for (const TableProgram::Waiter& waiter : tables_.program(node).waiters) {
      if (waiter.entry != entry) continue;
      const TableEvent event = frames_[node.index()].in_network(waiter.event);
      const auto kind = event.is_reduce() ? TransferKind::reduce : TransferKind::copy;
      if (event.is_send()) {
        const RecordIndex message = names_.at({node, event.peer, event.flow, kind});
        events.push_back({{PathEvent::Kind::sent, message}, index_.sent(message)});
      } else {
        const RecordIndex message = names_.at({event.peer, node, event.flow, kind});
        events.push_back({{PathEvent::Kind::done, message}, index_.done(message)});
      }
    }
    return events;
  }

  // Every condition, those of the entry's timestep included.
  [[nodiscard]] std::vector<EntryCause> causes(NodeId node, std::size_t entry) const {
    const ProgramEntry& of = tables_.program(node).entries[entry];
    const TableEngine::Spec& engine = engines_[node.index()];
    const Cycle issued = tables_.issued_at(node, entry);
    const Cycle entered = entered_at(node, of.step);
    std::vector<EntryCause> causes;
    for (const Awaited& awaited : awaited(node, entry)) {
      if (awaited.at + 1 + turnaround(node, entry) != issued) continue;
      causes.push_back({SegmentKind::dependency, awaited.event, 0, awaited.at});
    }
    const Cycle slot = of.not_before_ps != 0 && engine.slot_clock_hertz != 0
                           ? slot_cycles(of.not_before_ps, engine.slot_clock_hertz)
                           : 0;
    if (slot != 0 && entered + slot == issued) {
      causes.push_back({SegmentKind::slot, {}, entry, entered});
    }
    const bool in_order = !authors_;
    const std::size_t first = tables_.first_of_step(node, entry);
    const bool begins = !in_order || first == entry;
    if (begins && entered == issued) add_step_causes(node, entry, causes);
    if (entry != 0 && of.rows_passed != 0 &&
        tables_.issued_at(node, entry - 1) + rows_cycles(of.rows_passed, engine.issue_per_cycle) ==
            issued) {
      add_issue(SegmentKind::passed_rows, node, entry - 1, causes);
    }
    for (const RecordIndex mine : sends(node, entry)) {
      const bool any = authors_ && authors_->takes_any_port;
      add_ports(SegmentKind::ni_queue, node, issued,
                any ? kNowhere : record_.messages[mine].channel, causes);
    }
    const std::size_t end =
        in_order ? entry : std::min(end_of_step(node, entry), tables_.issued_entries(node));
    for (std::size_t e = in_order && entry != first ? entry - 1 : first; e < end; ++e) {
      const Cycle at = tables_.issued_at(node, e);
      if (e == entry || (at + 1 != issued && at != issued)) continue;
      add_issue(SegmentKind::issue, node, e, causes);
    }
    return causes;
  }

 private:
  [[nodiscard]] Cycle entered_at(NodeId node, Timestep step) const {
    return record_.nis[node.index()].steps[step].at;
  }
  void add_issue(SegmentKind kind, NodeId node, std::size_t entry,
                 std::vector<EntryCause>& causes) const {
    causes.push_back(
        {kind, {PathEvent::Kind::issued, kNowhere}, entry, tables_.issued_at(node, entry)});
  }
  // Whether the injection queue was full until the cycle before `now`.
  [[nodiscard]] bool was_full(NodeId node, Cycle now, std::uint32_t channel) const {
    std::size_t held = 0;
    for (const RecordIndex m : index_.of(node)) {
      const MessageRecord& message = record_.messages[m];
      const bool was_there = message.issued < now && released(m) + 1 >= now;
      if (message.channel == channel && was_there) ++held;
    }
    return held >= queue_depth_;
  }
  // Messages of the node that released a port in the cycle before `now`: for an entry, from a full
  // queue, on `channel` if that is given.
  void add_ports(SegmentKind kind, NodeId node, Cycle now, std::uint32_t channel,
                 std::vector<EntryCause>& causes) const {
    for (const RecordIndex m : index_.of(node)) {
      const MessageRecord& message = record_.messages[m];
      if (released(m) + 1 != now) continue;
      if (channel != kNowhere && message.channel != channel) continue;
      if (kind == SegmentKind::ni_queue && !was_full(node, now, message.channel)) continue;
      if (message.released == kNever) {
        causes.push_back({kind, {PathEvent::Kind::sent, m}, 0, message.sent});
      } else {
        add_issue(kind, node, message.entry, causes);
      }
    }
  }
  // Why the timestep of `entry` began. Steps without entries take a cycle each.
  void add_step_causes(NodeId node, std::size_t entry, std::vector<EntryCause>& causes) const {
    const auto& entries = tables_.program(node).entries;
    const std::size_t first = tables_.first_of_step(node, entry);
    const Timestep last = first == 0 ? 0 : entries[first - 1].step;
    Timestep step = entries[entry].step;
    for (;; --step) {
      const Cycle since = entered_at(node, step);
      add_doorbells(node, step, first, causes);
      if (first != 0) add_counter(node, first, since, causes);
      if (first != 0) add_drained(node, since, causes);
      if (step == last + 1) break;
      if (entered_at(node, step - 1) + 1 != since) return;
    }
    if (first == 0) return;
    for (std::size_t e = tables_.first_of_step(node, first - 1); e < first; ++e) {
      if (tables_.issued_at(node, e) + 1 != entered_at(node, step)) continue;
      add_issue(SegmentKind::issue, node, e, causes);
    }
  }
  void add_doorbells(NodeId node, Timestep step, std::size_t first,
                     std::vector<EntryCause>& causes) const {
    const Cycle since = entered_at(node, step);
    const auto& releases = engines_[node.index()].releases;
    const bool rang = std::any_of(releases.begin(), releases.end(), [&](const auto& release) {
      return release.step == step && release.at == since;
    });
    if (first == 0 && since == tables_.clock(node).start()) {
      causes.push_back({SegmentKind::late_start, {}, first, since});
    } else if (rang) {
      causes.push_back({SegmentKind::doorbell, {}, first, since});
    }
    if (!authors_ || authors_->posted_step != step) return;
    // The hosts post the step when every message before it has arrived.
    Cycle last = 0;
    for (RecordIndex m = 0; m < record_.messages.size(); ++m) {
      if (!is_posted_late(m)) last = std::max(last, index_.done(m));
    }
    for (RecordIndex m = 0; m < record_.messages.size() && last + 1 == since; ++m) {
      if (is_posted_late(m) || index_.done(m) != last) continue;
      causes.push_back({SegmentKind::doorbell, {PathEvent::Kind::done, m}, 0, last});
    }
  }
  // The down-counter that the step before loaded ran out in cycle `since`.
  void add_counter(NodeId node, std::size_t first, Cycle since,
                   std::vector<EntryCause>& causes) const {
    const auto& entries = tables_.program(node).entries;
    std::size_t last = tables_.first_of_step(node, first - 1);
    const Cycle counts = engines_[node.index()].step_time[entries[last].step - 1];
    if (counts == 0) return;
    if (engines_[node.index()].lockstep != LockstepMode::nop) {
      if (tables_.issued_at(node, last) + counts == since) {
        add_issue(SegmentKind::lockstep, node, last, causes);
      }
      return;
    }
    last = first - 1;
    if (entries[last].op != TableOp::nop) return;
    Cycle from = tables_.issued_at(node, last);
    if (last != 0 && entries[last - 1].op != TableOp::nop) {
      from = counts;
      Cycle sent = 0;
      for (std::size_t e = tables_.first_of_step(node, last - 1); e < last; ++e) {
        sent = std::max(sent, tables_.issued_at(node, e));
      }
      from += sent;
    }
    if (from + counts == since) add_issue(SegmentKind::lockstep, node, last, causes);
  }
  [[nodiscard]] Cycle turnaround(NodeId node, std::size_t entry) const {
    return tables_.program(node).entries[entry].reads_back ? engines_[node.index()].turnaround : 0;
  }
  // The entry after the last one of the entry's step.
  [[nodiscard]] std::size_t end_of_step(NodeId node, std::size_t entry) const {
    const auto& entries = tables_.program(node).entries;
    std::size_t end = entry;
    while (end != entries.size() && entries[end].step == entries[entry].step) ++end;
    return end;
  }
  [[nodiscard]] bool is_posted_late(RecordIndex message) const {
    const Timestep posted = authors_ ? authors_->posted_step : 0;
    return posted != 0 && tables_.step_of(message) >= posted;
  }
  // When a message released its injection port.
  [[nodiscard]] Cycle released(RecordIndex message) const {
    return std::min(record_.messages[message].released, index_.sent(message));
  }
  // Lockstep waits for reductions, and in some modes for sends.
  void add_drained(NodeId node, Cycle since, std::vector<EntryCause>& causes) const {
    const LockstepMode mode = engines_[node.index()].lockstep;
    if (mode == LockstepMode::off) return;
    for (const RecordIndex m : index_.to(node)) {
      const bool reduces = record_.messages[m].operation.on_arrival == TransferKind::reduce;
      if (mode == LockstepMode::nop || !reduces || index_.done(m) != since) continue;
      causes.push_back({SegmentKind::lockstep, {PathEvent::Kind::done, m}, 0, since});
    }
    if (mode != LockstepMode::drain && mode != LockstepMode::nop) return;
    add_ports(SegmentKind::lockstep, node, since, kNowhere, causes);
  }

  const TableCauses& tables_;
  std::vector<NodeFrame> frames_;  // by node
  std::map<std::tuple<NodeId, NodeId, FlowId, TransferKind>, RecordIndex> names_;
  const RunRecord& record_;
  const MessageIndex& index_;
  const std::vector<TableEngine::Spec>& engines_;
  const std::optional<AuthorsRules>& authors_;
  std::size_t queue_depth_;
};

}  // namespace espalier::test
