// Why a schedule table's entry issued when it did: the rules of ni/engines/schedule_table_engine,
// read backwards (docs/timing.md, "Network interface").
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/schedule_table_engine.h"
#include "ni/engines/table_program.h"
#include "ni/modes.h"
#include "sims/observe/explain/issue_causes.h"

namespace espalier {

struct TableCausesSpec {
  ScheduleTableEngine::Spec engine;
  std::vector<NodeClock> clocks;  // by node
};

// The event that an entry waited for last.
struct EntryCause {
  SegmentKind kind = SegmentKind::unexplained;
  PathEvent event;  // `issued` refers to `entry`, which may have no message
  std::size_t entry = 0;
  Cycle at = 0;  // the event's cycle
};

class TableCauses : public IssueCauses {
 public:
  // All must outlive it.
  TableCauses(const ScheduleTables& tables, const RunRecord& record, const MessageIndex& index,
              TableCausesSpec spec);

  [[nodiscard]] PathEvent back_from_issue(RecordIndex message, Trail& trail) const override;
  [[nodiscard]] std::optional<PathEvent> back_from_hold(RecordIndex message,
                                                        Trail& trail) const override;

  [[nodiscard]] std::size_t num_nodes() const { return nodes_.size(); }
  [[nodiscard]] const TableProgram& program(NodeId node) const {
    return programs_.size() == 1 ? programs_.front() : programs_[node.index()];
  }
  // Not all entries of the table: entries without sends may remain when the last message has
  // arrived.
  [[nodiscard]] std::size_t issued_entries(NodeId node) const {
    return nodes_[node.index()].issued.size();
  }
  [[nodiscard]] Cycle issued_at(NodeId node, std::size_t entry) const {
    return nodes_[node.index()].issued[entry];
  }
  // The messages of an entry are those numbered [first_send, first_send + num_sends) of its node.
  [[nodiscard]] RecordIndex message_of(NodeId node, std::size_t send) const {
    return index_.of(node)[send];
  }
  [[nodiscard]] std::size_t entry_of(RecordIndex message) const;
  // The timestep of the entry that sent the message.
  [[nodiscard]] Timestep step_of(RecordIndex message) const;
  [[nodiscard]] EntryCause cause(NodeId node, std::size_t entry) const;
  // The message whose event an entry waits for.
  struct Awaited {
    PathEvent event;
    Cycle at = 0;
  };
  [[nodiscard]] std::vector<Awaited> awaited(NodeId node, std::size_t entry) const;
  // The value that the down-counter is loaded with in a step.
  [[nodiscard]] Cycle step_time(NodeId node, Timestep step) const;
  [[nodiscard]] const NodeClock& clock(NodeId node) const { return spec_.clocks[node.index()]; }
  [[nodiscard]] Cycle turnaround(NodeId node, std::size_t entry) const {
    return program(node).entries[entry].reads_back ? spec_.engine.turnaround : 0;
  }
  // The first entry of `entry`'s step; it loads the down-counter.
  [[nodiscard]] std::size_t first_of_step(NodeId node, std::size_t entry) const;

 private:
  struct OfNode {
    std::vector<Cycle> issued;   // by entry
    std::vector<Cycle> entered;  // by timestep; 0 for the state before the first one
    std::vector<std::pair<Cycle, RecordIndex>> reduced;  // sorted by time
  };
  void read_moves(NodeId node);
  [[nodiscard]] EntryCause step_cause(NodeId node, std::size_t entry) const;
  [[nodiscard]] std::size_t entry_of_send(NodeId node, std::size_t send) const;

  const RunRecord& record_;
  const MessageIndex& index_;
  TableCausesSpec spec_;
  std::vector<TableProgram> programs_;
  std::vector<NodeFrame> frames_;
  std::vector<std::vector<std::vector<std::uint32_t>>> waiters_;  // by program, by entry
  std::vector<OfNode> nodes_;
  std::vector<std::uint32_t> number_;  // by message: among its node's
};

}  // namespace espalier
