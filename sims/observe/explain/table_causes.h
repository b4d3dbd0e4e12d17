// Why an entry of a schedule table issued when it did (docs/timing.md, "Network interface").
//
// The engine said which condition became true last (NiRecord::Released). A predecessor that issued
// too early to be the cause is `unexplained` (docs/explain.md).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/authors_table_engine.h"
#include "ni/engines/table_program.h"
#include "ni/modes.h"
#include "sims/observe/explain/critical_path.h"
#include "sims/observe/explain/issue_causes.h"

namespace espalier {

// The event that an entry waited for last.
struct EntryCause {
  SegmentKind kind = SegmentKind::unexplained;
  PathEvent event;  // `issued` refers to `entry`, which may have no message
  std::size_t entry = 0;
  Cycle at = 0;  // the event's cycle
};

class TableCauses : public IssueCauses {
 public:
  // The references must outlive it. `engines`, `clocks`: by node. `authors`: nullopt if the NIs do
  // not follow the rules of MultiTree's authors.
  TableCauses(const ScheduleTables& tables, const RecordedRun& run,
              std::vector<TableEngine::Spec> engines, const std::optional<AuthorsRules>& authors,
              std::vector<NodeClock> clocks);

  [[nodiscard]] PathEvent back_from_issue(RecordIndex message, Trail& trail) const override;

  [[nodiscard]] std::size_t num_nodes() const { return clocks_.size(); }
  [[nodiscard]] const TableProgram& program(NodeId node) const {
    return programs_.size() == 1 ? programs_.front() : programs_[node.index()];
  }
  // May be fewer than the table has: entries without sends may remain at the end of the run.
  [[nodiscard]] std::size_t issued_entries(NodeId node) const {
    std::size_t entries = record_.nis[node.index()].entries.size();
    while (entries != 0 && issued_at(node, entries - 1) == kNever) --entries;
    return entries;
  }
  [[nodiscard]] const NiRecord::Entry& record_of(NodeId node, std::size_t entry) const {
    return record_.nis[node.index()].entries[entry];
  }
  [[nodiscard]] Cycle issued_at(NodeId node, std::size_t entry) const {
    return record_of(node, entry).at;
  }
  // True if an entry issues after the entry before it in the table.
  [[nodiscard]] bool in_table_order() const { return !authors_; }
  // The timestep of the entry that sent the message.
  [[nodiscard]] Timestep step_of(RecordIndex message) const {
    return program(record_.messages[message].operation.from)
        .entries[record_.messages[message].entry]
        .step;
  }
  [[nodiscard]] EntryCause cause(NodeId node, std::size_t entry) const;
  // The entry after the last one of `entry`'s step.
  [[nodiscard]] std::size_t end_of_step(NodeId node, std::size_t entry) const;
  // The value that the down-counter is loaded with in a step; 0 if the mode does not count.
  [[nodiscard]] Cycle step_time(NodeId node, Timestep step) const {
    return engine(node).step_time[step - 1];
  }
  [[nodiscard]] const NodeClock& clock(NodeId node) const { return clocks_[node.index()]; }
  [[nodiscard]] Cycle turnaround(NodeId node, std::size_t entry) const {
    return program(node).entries[entry].reads_back ? engine(node).turnaround : 0;
  }
  // The entry begins a timestep, not the first one, that waits until all sends have left.
  [[nodiscard]] bool begins_drained(NodeId node, std::size_t entry) const {
    const LockstepMode mode = engine(node).lockstep;
    const bool waits = program(node).entries[entry].op != TableOp::nop;
    return entry != 0 && first_of_step(node, entry) == entry &&
           (mode == LockstepMode::drain || (mode == LockstepMode::nop && waits));
  }
  // AuthorsRules::posted_step.
  [[nodiscard]] Timestep posted_step() const { return authors_ ? authors_->posted_step : 0; }
  [[nodiscard]] bool is_posted_late(Timestep step) const {
    return posted_step() != 0 && step >= posted_step();
  }
  // The first entry of `entry`'s step. That entry loads the down-counter.
  [[nodiscard]] std::size_t first_of_step(NodeId node, std::size_t entry) const;

 private:
  using Released = NiRecord::Released;
  [[nodiscard]] const TableEngine::Spec& engine(NodeId node) const {
    return engines_[node.index()];
  }
  [[nodiscard]] EntryCause step_cause(NodeId node, std::size_t entry) const;
  [[nodiscard]] EntryCause event_cause(SegmentKind kind, PathEvent event) const {
    const bool is_sent = event.kind == PathEvent::Kind::sent;
    return {kind, event, 0, is_sent ? index_.sent(event.message) : index_.done(event.message)};
  }
  // That the message of the node released its port.
  [[nodiscard]] EntryCause port_cause(SegmentKind kind, NodeId node, const Released& why) const;
  // That the entry before issued.
  [[nodiscard]] EntryCause issue_cause(SegmentKind kind, NodeId node, const Released& why) const;

  const RunRecord& record_;
  const MessageIndex& index_;
  std::vector<TableEngine::Spec> engines_;
  std::vector<NodeClock> clocks_;
  std::vector<TableProgram> programs_;
  std::optional<AuthorsRules> authors_;
};

}  // namespace espalier
