// Why an entry of a schedule table issued when it did (docs/timing.md, "Network interface").
//
// The causes are derived from the recorded events, not taken from the engine. The engine's stall
// names only the first condition that was missing in its last evaluation. A path and the slack need
// each event that came in the last possible cycle, also if several came in that cycle. An entry
// that no event explains is `unexplained`, so every account checks the engine (docs/explain.md).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/authors_table_engine.h"
#include "ni/engines/schedule_table_engine.h"
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
  [[nodiscard]] std::optional<PathEvent> back_from_hold(RecordIndex message,
                                                        Trail& trail) const override;

  [[nodiscard]] std::size_t num_nodes() const { return nodes_.size(); }
  [[nodiscard]] const TableProgram& program(NodeId node) const {
    return programs_.size() == 1 ? programs_.front() : programs_[node.index()];
  }
  // May be fewer than the table has: entries without sends may remain at the end of the run.
  [[nodiscard]] std::size_t issued_entries(NodeId node) const {
    return nodes_[node.index()].issued.size();
  }
  [[nodiscard]] Cycle issued_at(NodeId node, std::size_t entry) const {
    return nodes_[node.index()].issued[entry];
  }
  // An entry sends its node's messages [first_send, first_send + num_sends).
  [[nodiscard]] RecordIndex message_of(NodeId node, std::size_t send) const {
    return nodes_[node.index()].messages[send];
  }
  // True if an entry issues after the entry before it in the table.
  [[nodiscard]] bool in_table_order() const { return !authors_; }
  [[nodiscard]] std::size_t entry_of(RecordIndex message) const;
  // The timestep of the entry that sent the message.
  [[nodiscard]] Timestep step_of(RecordIndex message) const;
  [[nodiscard]] EntryCause cause(NodeId node, std::size_t entry) const;
  // An event that an entry waits for, and its cycle.
  struct Awaited {
    PathEvent event;
    Cycle at = 0;
  };
  [[nodiscard]] std::vector<Awaited> awaited(NodeId node, std::size_t entry) const;
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
  // AuthorsRules::posted_step.
  [[nodiscard]] Timestep posted_step() const { return authors_ ? authors_->posted_step : 0; }
  [[nodiscard]] bool is_posted_late(Timestep step) const {
    return posted_step() != 0 && step >= posted_step();
  }
  // The first entry of `entry`'s step. That entry loads the down-counter.
  [[nodiscard]] std::size_t first_of_step(NodeId node, std::size_t entry) const;

 private:
  struct OfNode {
    std::vector<RecordIndex> messages;  // by number of the send in the table
    std::vector<Cycle> issued;          // by entry
    std::vector<Cycle> entered;         // by timestep; 0 for the state before the first one
    std::vector<std::pair<Cycle, RecordIndex>> reduced;  // sorted by time
  };
  [[nodiscard]] const TableEngine::Spec& engine(NodeId node) const {
    return engines_[node.index()];
  }
  void find_messages(NodeId node);
  void find_last_before_post();
  // The cause if the hosts posted `step` for cycle `at` because a message had arrived.
  [[nodiscard]] std::optional<EntryCause> late_post_cause(Timestep step, Cycle at) const;
  void read_moves(NodeId node);
  // Entries that are not in table order issue with their messages, and a NOP when the head of the
  // table moves.
  void read_issues(NodeId node);
  [[nodiscard]] EntryCause step_cause(NodeId node, std::size_t entry) const;
  // The entry of the step before `entry`'s step that issued last. Precondition: there is one.
  [[nodiscard]] std::size_t last_before_step(NodeId node, std::size_t entry) const;
  // The entry that loaded the counter which ended in cycle `at` and held the step of `entry`.
  [[nodiscard]] std::optional<std::size_t> counted_for(NodeId node, std::size_t entry,
                                                       Cycle at) const;
  // The event that an entry issued.
  [[nodiscard]] EntryCause issue_cause(SegmentKind kind, NodeId node, std::size_t entry) const;
  // The event that the message released its port.
  [[nodiscard]] EntryCause release_cause(SegmentKind kind, RecordIndex message) const;
  // An entry of the same step that issued one cycle earlier, or in the same cycle before it.
  [[nodiscard]] std::optional<std::size_t> issued_before(NodeId node, std::size_t entry) const;
  [[nodiscard]] std::size_t entry_of_send(NodeId node, std::size_t send) const;

  const RunRecord& record_;
  const MessageIndex& index_;
  std::vector<TableEngine::Spec> engines_;
  std::vector<NodeClock> clocks_;
  std::vector<TableProgram> programs_;
  std::vector<NodeFrame> frames_;
  std::vector<std::vector<std::vector<std::uint32_t>>> waiters_;  // by program, by entry
  std::vector<OfNode> nodes_;
  std::vector<std::uint32_t> number_;  // by message: its number among its node's messages
  std::optional<AuthorsRules> authors_;
  // The message for which the hosts waited before they posted posted_step(); kNowhere: none.
  RecordIndex last_before_post_ = kNowhere;
};

}  // namespace espalier
