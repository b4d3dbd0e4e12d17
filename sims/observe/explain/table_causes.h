// Why an entry of a schedule table issued when it did (docs/timing.md, "Network interface").
//
// The engine said which condition became true last (NiRecord::Released). A predecessor that issued
// too early to be the cause is `unexplained` (docs/explain.md).
#pragma once

#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/table_program.h"
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
  // The references must outlive it. `clocks`: by node.
  TableCauses(const ScheduleTables& tables, const RecordedRun& run, std::vector<NodeClock> clocks);

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
  // The timestep of the entry that sent the message.
  [[nodiscard]] Timestep step_of(RecordIndex message) const {
    return program(record_.messages[message].operation.from)
        .entries[record_.messages[message].entry]
        .step;
  }
  [[nodiscard]] EntryCause cause(NodeId node, std::size_t entry) const;
  [[nodiscard]] const NodeClock& clock(NodeId node) const { return clocks_[node.index()]; }
  // The first entry of `entry`'s step.
  [[nodiscard]] std::size_t first_of_step(NodeId node, std::size_t entry) const;

 private:
  using Released = NiRecord::Released;
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
  std::vector<NodeClock> clocks_;
  std::vector<TableProgram> programs_;
};

}  // namespace espalier
