// Why an NI of a multi-dimensional system issued a message when it did: the rules of dimension
// queues, and of switches that add and copy, read backwards.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ni/engines/dimension_program.h"
#include "sims/observe/explain/issue_causes.h"

namespace espalier {

class DimensionCauses : public IssueCauses {
 public:
  // Program, record and index must outlive it. `clocks`: by node. `arbitration`: cycles from a
  // ready stage and a free place to the stage's first operation.
  DimensionCauses(const DimensionProgram& program, const RunRecord& record,
                  const MessageIndex& index, std::vector<NodeClock> clocks, Cycle arbitration);

  [[nodiscard]] PathEvent back_from_issue(RecordIndex message, Trail& trail) const override;
  [[nodiscard]] std::optional<PathEvent> back_from_hold(RecordIndex message,
                                                        Trail& trail) const override;

 private:
  // A stage at one NI: from its first operation until all its messages are sent, received and in
  // memory.
  struct StageTimes {
    Cycle start = kNever;
    RecordIndex first = kNowhere;  // its first issued message
    Cycle end = 0;
    PathEvent last;  // the event that ended it
  };
  using StageKey = std::tuple<NodeId, std::uint32_t, std::uint32_t>;  // node, chunk, stage
  using StepKey = std::tuple<NodeId, FlowId>;
  void note(NodeId node, StageRef stage, Cycle at, PathEvent event);

  [[nodiscard]] PathEvent back_at_switch(RecordIndex message, Trail& trail) const;
  // Explains why the stage started at trail.at().
  [[nodiscard]] PathEvent back_from_start(NodeId node, StageRef stage, Segment segment,
                                          Trail& trail) const;
  // A stage of the same dimension that ended (`ended`), or started, in a cycle.
  [[nodiscard]] const StageTimes* in_dimension(NodeId node, StageRef stage, Cycle cycle,
                                               bool ended) const;

  const DimensionProgram& program_;
  const RunRecord& record_;
  const MessageIndex& index_;
  std::vector<NodeClock> clocks_;
  Cycle arbitration_;
  std::map<StageKey, StageTimes> stages_;
  // The last message that a step of a stage received; by receiver and flow.
  std::map<StepKey, RecordIndex> received_;
  // By node, dimension and cycle: the stage that ended, and the one that started.
  using MomentKey = std::tuple<NodeId, std::uint32_t, Cycle>;
  std::map<MomentKey, const StageTimes*> ended_;
  std::map<MomentKey, const StageTimes*> started_;
};

}  // namespace espalier
