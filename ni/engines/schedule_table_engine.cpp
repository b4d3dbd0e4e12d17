#include "ni/engines/schedule_table_engine.h"

#include <algorithm>

namespace espalier {

namespace {
bool is_send(TableEvent::Kind kind) {
  return kind == TableEvent::Kind::reduce_sent || kind == TableEvent::Kind::gather_sent;
}

StallReason reason_of(const TableEvent& event) {
  if (is_send(event.kind)) return StallReason::injection;
  return event.kind == TableEvent::Kind::reduced ? StallReason::children : StallReason::parent;
}

}  // namespace

ScheduleTableEngine::ScheduleTableEngine(const TableProgram& program, const Spec& spec)
    : program_(program),
      spec_(spec),
      clear_at_(program.entries.size(), 0),
      seen_(program.waiters.size(), false) {
  for (const ProgramEntry& entry : program.entries) {
    pending_.push_back(entry.waits_for);
    pending_flows_.push_back(entry.waits_for_flows);
  }
  const auto& waiters = program.waiters;
  for (std::size_t w = 0; w < waiters.size(); ++w) {
    waiters_of_flow_.resize(waiters[w].event.flow.index() + 1, static_cast<std::uint32_t>(w));
    waits_for_sends_ |= is_send(waiters[w].event.kind);
  }
  waiters_of_flow_.push_back(static_cast<std::uint32_t>(waiters.size()));
}

void ScheduleTableEngine::clear(const TableEvent& event, Cycle now) {
  if (is_send(event.kind) && !waits_for_sends_) return;
  const std::size_t flow = event.flow.index();
  if (flow + 1 >= waiters_of_flow_.size()) return;
  for (std::size_t index = waiters_of_flow_[flow]; index < waiters_of_flow_[flow + 1]; ++index) {
    const TableProgram::Waiter& w = program_.waiters[index];
    if (!(w.event == event) || seen_[index]) continue;
    seen_[index] = true;
    --pending_[w.entry];
    if (w.completes_flow) --pending_flows_[w.entry];
    clear_at_[w.entry] = now + 1 + (program_.entries[w.entry].reads_back ? spec_.turnaround : 0);
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
  const Cycle posted_at = next_step_posted_at();
  if (posted_at > now) return stalled(StallReason::doorbell, posted_at);
  if (timestep_ != 0 && spec_.lockstep != LockstepMode::off) {
    if (lockstep_until_ > now) return stalled(StallReason::lockstep, lockstep_until_);
    if (!back_end.reduction_idle) {
      return stalled(StallReason::lockstep, back_end.reduction_idle_at);
    }
    if (spec_.lockstep == LockstepMode::drain && !back_end.all_sent) {
      waits_for_ports_ = true;
      return stalled(StallReason::lockstep, kNever);
    }
  }
  ++timestep_;
  if (next_release_ < spec_.releases.size() && spec_.releases[next_release_].step == timestep_) {
    ++next_release_;
  }
  counter_loaded_ = false;
  return now + 1;
}

void ScheduleTableEngine::load_lockstep_counter(Cycle now) {
  counter_loaded_ = true;
  const bool counts =
      spec_.lockstep == LockstepMode::estimate || spec_.lockstep == LockstepMode::full;
  lockstep_until_ = now + (counts ? spec_.step_time[timestep_ - 1] : 0);
}

void ScheduleTableEngine::index_waiters() {
  if (!waiters_of_entry_.empty()) return;
  waiters_of_entry_.resize(program_.entries.size());
  for (std::size_t w = 0; w < program_.waiters.size(); ++w) {
    waiters_of_entry_[program_.waiters[w].entry].push_back(static_cast<std::uint32_t>(w));
  }
}

TableView ScheduleTableEngine::view() const {
  TableView view;
  view.timestep = timestep_;
  view.lockstep_until = lockstep_until_;
  view.head = head_;
  view.done = done();
  view.stall = stall_;
  if (done()) return view;
  const ProgramEntry& entry = program_.entries[head_];
  view.op = static_cast<std::uint8_t>(entry.op);
  view.flow = entry.flow;
  view.head_step = entry.step;
  const std::vector<std::uint32_t>& waiters = waiters_of_entry_[head_];
  for (std::size_t bit = 0; bit < waiters.size(); ++bit) {
    const std::uint32_t waiter = waiters[bit];
    if (seen_[waiter]) {
      if (bit < kReadyBits) view.ready_bits |= std::uint64_t{1} << bit;
      continue;
    }
    if (view.stall == StallReason::event) view.stall = reason_of(program_.waiters[waiter].event);
  }
  return view;
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
