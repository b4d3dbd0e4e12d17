// A schedule table as an issue engine: what the table says, seen from one node.
#pragma once

#include "ni/engines/node_frame.h"
#include "ni/engines/schedule_table_engine.h"
#include "ni/issue_engine.h"

namespace espalier {

class ScheduleTableIssue : public IssueEngine {
 public:
  // `program` and `frame`'s tables must outlive it.
  ScheduleTableIssue(const TableProgram& program, const NodeFrame& frame,
                     const ScheduleTableEngine::Spec& spec)
      : engine_(program, spec), frame_(frame) {}

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  [[nodiscard]] bool may_add(const Operation& operation) const override {
    return engine_.may_add(frame_.in_table(operation.flow));
  }
  [[nodiscard]] std::uint64_t decisions() const override { return engine_.head(); }
  [[nodiscard]] bool done() const override { return engine_.done(); }
  [[nodiscard]] bool waits_for_ports() const override { return engine_.waits_for_ports(); }
  [[nodiscard]] bool timer_running(Cycle now) const override { return engine_.timer_running(now); }
  void prepare_to_show() override { engine_.index_waiters(); }
  void show(EngineView& view) const override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

 private:
  bool clear(const TableEvent& event, Cycle now);

  ScheduleTableEngine engine_;
  NodeFrame frame_;  // between the table and everything else
};

}  // namespace espalier
