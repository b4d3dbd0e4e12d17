#include "ni/schedule_table_engine.h"

#include <algorithm>

namespace espalier {

ScheduleTableEngine::ScheduleTableEngine(const TableProgram& program, const Spec& spec)
    : program_(program),
      spec_(spec),
      clear_at_(program.entries.size(), 0),
      seen_(program.waiters.size(), false) {
  for (const ProgramEntry& entry : program.entries) {
    pending_.push_back(entry.waits_for);
    pending_flows_.push_back(entry.waits_for_flows);
  }
}

void ScheduleTableEngine::clear(const TableEvent& event, Cycle now) {
  const auto& waiters = program_.waiters;
  const auto before = [](const TableProgram::Waiter& w, const TableEvent& e) {
    return w.event < e;
  };
  for (auto w = std::lower_bound(waiters.begin(), waiters.end(), event, before);
       w != waiters.end() && w->event == event; ++w) {
    const auto index = static_cast<std::size_t>(w - waiters.begin());
    if (seen_[index]) continue;
    seen_[index] = true;
    --pending_[w->entry];
    if (w->completes_flow) --pending_flows_[w->entry];
    clear_at_[w->entry] = now + 1 + (program_.entries[w->entry].reads_back ? spec_.turnaround : 0);
  }
}

bool ScheduleTableEngine::may_add(FlowId flow) const {
  const auto& holds = program_.holds;
  const auto before = [](const TableProgram::Hold& h, FlowId f) { return h.flow < f; };
  for (auto h = std::lower_bound(holds.begin(), holds.end(), flow, before);
       h != holds.end() && h->flow == flow; ++h) {
    if (pending_flows_[h->entry] != 0) return false;
  }
  return true;
}

Cycle ScheduleTableEngine::advance_timestep(Cycle now, const BackEndState& back_end) {
  if (timestep_ != 0 && spec_.lockstep != LockstepMode::off) {
    if (lockstep_until_ > now) return lockstep_until_;
    if (!back_end.reduction_idle) return back_end.reduction_idle_at;
    if (spec_.lockstep == LockstepMode::drain && !back_end.all_sent) return kNever;
  }
  ++timestep_;
  counter_loaded_ = false;
  return now + 1;
}

void ScheduleTableEngine::load_lockstep_counter(Cycle now) {
  counter_loaded_ = true;
  const bool counts =
      spec_.lockstep == LockstepMode::estimate || spec_.lockstep == LockstepMode::full;
  lockstep_until_ = now + (counts ? spec_.step_time[timestep_ - 1] : 0);
}

std::vector<TableEvent> ScheduleTableEngine::head_waits_for() const {
  std::vector<TableEvent> missing;
  for (std::size_t w = 0; w < program_.waiters.size() && !done(); ++w) {
    if (program_.waiters[w].entry == head_ && !seen_[w])
      missing.push_back(program_.waiters[w].event);
  }
  return missing;
}

}  // namespace espalier
