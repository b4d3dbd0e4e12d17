// Programs of schedule tables written by hand, and a driver of the engines that run them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "ni/engines/schedule_table_engine.h"

namespace espalier::table_test {

using Kind = TableEvent::Kind;

inline constexpr TableEvent kReduced{FlowId(0), Kind::reduced, NodeId(1)};
inline constexpr TableEvent kGathered{FlowId(0), Kind::gathered, NodeId(2)};

// A program written entry by entry; the send of entry i is recognised by its flow.
class TableWriter {
 public:
  TableWriter& entry(Timestep step, const std::vector<TableEvent>& waits_for = {},
                     std::uint32_t sends = 1, TableOp op = TableOp::reduce) {
    ProgramEntry added;
    added.op = op;
    added.step = step;
    added.flow = FlowId(program_.entries.size());
    added.first_send = static_cast<std::uint32_t>(program_.sends.size());
    added.num_sends = op == TableOp::nop ? 0 : sends;
    added.waits_for = static_cast<std::uint32_t>(waits_for.size());
    for (const TableEvent& event : waits_for) {
      program_.waiters.push_back({event, index(), false});
    }
    for (std::uint32_t s = 0; s < added.num_sends; ++s) {
      Operation send;
      send.flow = added.flow;
      send.to = NodeId(s);
      program_.sends.push_back(send);
    }
    program_.entries.push_back(added);
    return *this;
  }
  TableWriter& nop(Timestep step) { return entry(step, {}, 0, TableOp::nop); }
  TableWriter& reads_back() {
    program_.entries.back().reads_back = true;
    return *this;
  }
  // The last entry comes after the flows that these events complete.
  TableWriter& after(const std::vector<TableEvent>& events) {
    ProgramEntry& last = program_.entries.back();
    const std::uint32_t entry = index() - 1;
    for (const TableEvent& event : events) program_.waiters.push_back({event, entry, true});
    last.waits_for += static_cast<std::uint32_t>(events.size());
    last.waits_for_flows = static_cast<std::uint32_t>(events.size());
    program_.holds.push_back({last.flow, entry});
    return *this;
  }
  TableProgram done() {
    std::sort(program_.waiters.begin(), program_.waiters.end(), [](const auto& a, const auto& b) {
      return a.event == b.event ? a.entry < b.entry : a.event < b.event;
    });
    return program_;
  }

 private:
  [[nodiscard]] std::uint32_t index() const {
    return static_cast<std::uint32_t>(program_.entries.size());
  }
  TableProgram program_;
};

inline ScheduleTableEngine::Spec spec(LockstepMode mode, std::vector<Cycle> step_time = {},
                                      std::uint32_t issue_per_cycle = 1) {
  return {mode, issue_per_cycle, 2, std::move(step_time)};
}

// A back end whose state a test sets, and which notes the flows that are issued.
struct TableBackEnd : BackEnd {
  bool is_reduction_idle = true;
  Cycle idle_at = 0;
  bool is_all_sent = true;
  NodeId full_queue;             // towards this node there is no room
  std::uint32_t free_ports = 1;  // for messages that take any port
  std::vector<std::pair<std::size_t, Cycle>> issued;

  [[nodiscard]] bool reduction_idle(Cycle /*now*/) const override { return is_reduction_idle; }
  [[nodiscard]] Cycle reduction_idle_at() const override { return idle_at; }
  [[nodiscard]] bool all_sent() const override { return is_all_sent; }
  [[nodiscard]] bool has_room(const Operation& operation) const override {
    return operation.to != full_queue;
  }
  [[nodiscard]] bool has_ports_for(std::uint32_t messages) const override {
    return free_ports >= messages;
  }
  void issue(const Operation& operation, Cycle now) override {
    issued.emplace_back(operation.flow.index(), now);
  }
  WorkTimes work(const LocalWork& /*work*/, Cycle /*now*/) override { return {}; }
};

// Evaluates an engine and notes which flow was issued when.
template <class Engine>
class EngineDriver {
 public:
  template <class... Rules>
  EngineDriver(const TableProgram& program, const ScheduleTableEngine::Spec& engine_spec,
               const Rules&... rules)
      : engine(program, NodeFrame(), engine_spec, rules...) {}

  Cycle evaluate(Cycle now) { return engine.evaluate(now, back_end); }
  void run(Cycle from, Cycle to) {
    for (Cycle now = from; now <= to; ++now) evaluate(now);
  }
  [[nodiscard]] Cycle issue_cycle(std::size_t entry) const {
    for (const auto& [flow, cycle] : back_end.issued) {
      if (flow == entry) return cycle;
    }
    return kNever;
  }

  [[nodiscard]] bool may_add(FlowId flow) const {
    Operation operation;
    operation.flow = flow;
    return engine.may_add(operation);
  }

  Engine engine;
  TableBackEnd back_end;
};

}  // namespace espalier::table_test
