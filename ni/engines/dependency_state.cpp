#include "ni/engines/dependency_state.h"

namespace espalier {

DependencyState::DependencyState(const TableProgram& program, Cycle turnaround)
    : program_(program),
      turnaround_(turnaround),
      clear_at_(program.entries.size(), 0),
      seen_(program.waiters.size(), false) {
  for (const ProgramEntry& entry : program.entries) {
    pending_.push_back(entry.waits_for);
    pending_flows_.push_back(entry.waits_for_flows);
  }
  const auto& waiters = program.waiters;
  for (std::size_t w = 0; w < waiters.size(); ++w) {
    waiters_of_flow_.resize(waiters[w].event.flow.index() + 1, static_cast<std::uint32_t>(w));
    waits_for_sends_ |= waiters[w].event.is_send();
  }
  waiters_of_flow_.push_back(static_cast<std::uint32_t>(waiters.size()));
}

void DependencyState::set(const TableEvent& event, Cycle now) {
  if (event.is_send() && !waits_for_sends_) return;
  const std::size_t flow = event.flow.index();
  if (flow + 1 >= waiters_of_flow_.size()) return;
  for (std::size_t index = waiters_of_flow_[flow]; index < waiters_of_flow_[flow + 1]; ++index) {
    const TableProgram::Waiter& w = program_.waiters[index];
    if (!(w.event == event) || seen_[index]) continue;
    seen_[index] = true;
    --pending_[w.entry];
    if (w.completes_flow) --pending_flows_[w.entry];
    const bool reads_back = program_.entries[w.entry].reads_back;
    clear_at_[w.entry] = now + 1 + (reads_back ? turnaround_ : 0);
    if (w.place != TableProgram::kNoPlace) set_place(w.place, reads_back, now);
  }
}

std::unique_ptr<DependencyState> make_dependencies(const TableProgram& program, Cycle turnaround,
                                                   std::uint32_t /*issue_per_cycle*/) {
  return std::make_unique<DependencyState>(program, turnaround);
}

}  // namespace espalier
