#include "ni/engines/authors_table_engine.h"

#include <algorithm>
#include <stdexcept>

namespace espalier {

AuthorsTableEngine::AuthorsTableEngine(const TableProgram& program, const NodeFrame& frame,
                                       const ScheduleTableEngine::Spec& spec,
                                       const AuthorsRules& rules)
    : table_(program, frame, std::make_unique<DependencyState>(program, spec.turnaround)),
      spec_(spec),
      rules_(rules),
      doorbells_(spec.releases),
      issued_(program.entries.size(), false) {
  const bool has_slots =
      spec.slot_clock_hertz != 0 &&
      std::any_of(program.entries.begin(), program.entries.end(),
                  [](const ProgramEntry& entry) { return entry.not_before_ps != 0; });
  if (has_slots) throw std::invalid_argument("the authors' NI has no counter of slots");
  if (spec.lockstep != LockstepMode::off && spec.lockstep != LockstepMode::nop) {
    throw std::invalid_argument("the authors' NI has lockstep off or nop");
  }
}

Cycle AuthorsTableEngine::evaluate(Cycle now, BackEnd& back_end) {
  waits_for_ports_ = false;
  stall_ = StallReason::none;
  if (done()) return kNever;
  if (table_.entry(head_).step != timestep_) {
    if (!step_begins(now, back_end)) return why_not_entered(now);
    ++timestep_;
    doorbells_.step_begins(timestep_);
  }
  for (std::uint32_t issued = 0; table_.entry(head_).step == timestep_; ++issued) {
    if (issued == spec_.issue_per_cycle) return stalled(StallReason::step, now + 1);
    const std::size_t entry = next_entry(now, back_end);
    if (entry == table_.size()) return why_none_issued(now);
    issue(entry, now, back_end);
    if (done()) return kNever;
  }
  if (lockstep_until_ > now + 1) return stalled(StallReason::lockstep, lockstep_until_);
  return stalled(StallReason::step, now + 1);
}

bool AuthorsTableEngine::step_begins(Cycle now, const BackEnd& back_end) const {
  if (next_step_posted_at() > now) return false;
  if (timestep_ == 0 || spec_.lockstep == LockstepMode::off) return true;
  return lockstep_until_ <= now && (table_.entry(head_).op == TableOp::nop || back_end.all_sent());
}

template <class Visit>
void AuthorsTableEngine::for_each_candidate(Visit&& visit) const {
  const Timestep step = table_.entry(head_).step;
  for (std::size_t e = head_; e < table_.size() && table_.entry(e).step == step; ++e) {
    if (!issued_[e]) visit(e);
  }
}

std::size_t AuthorsTableEngine::next_entry(Cycle now, const BackEnd& back_end) const {
  std::size_t next = table_.size();
  for_each_candidate([&](std::size_t e) {
    const bool is_later = next != table_.size() && table_.entry(next).flow <= table_.entry(e).flow;
    if (!is_later && table_.dependencies().is_clear(e, now) && has_room(e, back_end)) next = e;
  });
  return next;
}

bool AuthorsTableEngine::has_room(std::size_t entry, const BackEnd& back_end) const {
  if (rules_.takes_any_port) return back_end.has_ports_for(table_.entry(entry).num_sends);
  return table_.has_room(entry, back_end);
}

void AuthorsTableEngine::issue(std::size_t entry, Cycle now, BackEnd& back_end) {
  const bool sends = table_.entry(entry).op != TableOp::nop;
  if (!sends && spec_.lockstep == LockstepMode::nop) {
    // The step before the NOP may still send, so the NOP counts from its last issue.
    const Cycle time = spec_.step_time[timestep_ - 1];
    lockstep_until_ = (has_sent_ ? sent_at_ + time : now) + time;
  }
  has_sent_ = sends;
  sent_at_ = now;
  table_.issue(entry, now, back_end);
  issued_[entry] = true;
  ++issued_entries_;
  while (!done() && issued_[head_]) ++head_;
}

Cycle AuthorsTableEngine::why_not_entered(Cycle now) {
  const Cycle posted_at = next_step_posted_at();
  if (posted_at > now) return stalled(StallReason::doorbell, posted_at);
  if (lockstep_until_ > now) return stalled(StallReason::lockstep, lockstep_until_);
  waits_for_ports_ = true;
  return stalled(StallReason::lockstep, kNever);
}

Cycle AuthorsTableEngine::why_none_issued(Cycle now) {
  for_each_candidate(
      [&](std::size_t e) { waits_for_ports_ |= table_.dependencies().knows(e, now); });
  const Cycle next = next_clear_at(now);
  if (waits_for_ports_) return stalled(StallReason::injection, next);
  return stalled(next == kNever ? StallReason::event : StallReason::dma, next);
}

Cycle AuthorsTableEngine::next_clear_at(Cycle now) const {
  Cycle next = kNever;
  for_each_candidate([&](std::size_t e) {
    if (table_.dependencies().misses_events(e)) return;
    const Cycle at = table_.dependencies().clear_at(e);
    if (at > now) next = std::min(next, at);
  });
  return next;
}

bool AuthorsTableEngine::timer_running(Cycle now) const {
  if (done()) return false;
  const Cycle posted_at = next_step_posted_at();
  return lockstep_until_ > now || next_clear_at(now) != kNever ||
         (posted_at > now && posted_at != kNever);
}

void AuthorsTableEngine::show(EngineView& shown) const {
  TableView& view = shown.table.emplace();
  view.timestep = timestep_;
  view.lockstep_until = lockstep_until_;
  view.head = head_;
  view.stall = stall_;
  table_.show(view);
}

}  // namespace espalier
