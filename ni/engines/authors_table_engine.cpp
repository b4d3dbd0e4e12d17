#include "ni/engines/authors_table_engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace espalier {

AuthorsTableEngine::AuthorsTableEngine(const TableProgram& program, const NodeFrame& frame,
                                       const Spec& spec, const AuthorsRules& rules)
    : TableEngine(program, frame, spec), rules_(rules), issued_(program.entries.size(), false) {
  for (const ProgramEntry& entry : program.entries) {
    if (entry.not_before_ps == 0 || spec.slot_clock_hertz == 0) continue;
    throw std::invalid_argument("the NI of MultiTree's authors has no counter of slots");
  }
}

Cycle AuthorsTableEngine::evaluate(Cycle now, BackEnd& back_end) {
  waited_for_ports_ = std::exchange(waits_for_ports_, false);
  stall_ = StallReason::none;
  if (done()) return kNever;
  const ProgramEntry& head = program_.entries[head_];
  if (head.step != timestep_) {
    if (next_post_at() > now) return stalled(StallReason::doorbell, next_post_at());
    if (lockstep_until_ > now) return stalled(StallReason::lockstep, lockstep_until_);
    const bool follows_sends = timestep_ != 0 && spec_.lockstep == LockstepMode::nop;
    if (follows_sends && head.op != TableOp::nop && !back_end.all_sent()) {
      waits_for_ports_ = true;
      return stalled(StallReason::lockstep, kNever);
    }
    ++timestep_;
    enter_step(timestep_ == rules_.posted_step && posted_at_ == now, now, back_end);
  }
  for (std::uint32_t issued = 0; program_.entries[head_].step == timestep_; ++issued) {
    if (issued == spec_.issue_per_cycle) return stalled(StallReason::step, now + 1);
    const std::optional<std::size_t> next = next_entry(now, back_end);
    if (!next) return why_none_issued(now);
    issue_entry(*next, now, back_end);
    if (done()) return kNever;
  }
  if (lockstep_until_ > now + 1) return stalled(StallReason::lockstep, lockstep_until_);
  return stalled(StallReason::step, now + 1);
}

template <class Visit>
void AuthorsTableEngine::for_each_candidate(Visit&& visit) const {
  const auto& entries = program_.entries;
  for (std::size_t e = head_; e < entries.size() && entries[e].step == entries[head_].step; ++e) {
    if (!issued_[e]) visit(e);
  }
}

std::optional<std::size_t> AuthorsTableEngine::next_entry(Cycle now,
                                                          const BackEnd& back_end) const {
  std::optional<std::size_t> next;
  for_each_candidate([&](std::size_t e) {
    const ProgramEntry& entry = program_.entries[e];
    if (next && program_.entries[*next].flow <= entry.flow) return;
    if (!dependencies_->is_clear(e, now)) return;
    const bool can_go =
        rules_.takes_any_port ? back_end.has_ports_for(entry.num_sends) : has_room(entry, back_end);
    if (can_go) next = e;
  });
  return next;
}

void AuthorsTableEngine::issue_entry(std::size_t index, Cycle now, BackEnd& back_end) {
  const bool sends = program_.entries[index].op != TableOp::nop;
  if (!sends && spec_.lockstep == LockstepMode::nop) {
    // The step before the NOP may still send, so the NOP counts from its last issue.
    const Cycle time = spec_.step_time[timestep_ - 1];
    lockstep_until_ = (has_sent_ ? sent_at_ + time : now) + time;
  }
  has_sent_ = sends;
  sent_at_ = now;
  issue(program_.entries[index], now, back_end);
  issued_[index] = true;
  ++issued_entries_;
  while (!done() && issued_[head_]) ++head_;
  if (!is_observed()) return;
  const Release room = rules_.takes_any_port ? Release::any_port : Release::port;
  const Release turn = waited_for_ports_ ? room : Release::order;
  tell_of_issue(index, step_entered_ == now ? Release::step : turn, now);
}

Cycle AuthorsTableEngine::why_none_issued(Cycle now) {
  for_each_candidate([&](std::size_t e) { waits_for_ports_ |= dependencies_->knows(e, now); });
  const Cycle next = next_clear_at(now);
  if (waits_for_ports_) return stalled(StallReason::injection, next);
  return stalled(next == kNever ? StallReason::event : StallReason::dma, next);
}

Cycle AuthorsTableEngine::next_clear_at(Cycle now) const {
  Cycle next = kNever;
  for_each_candidate([&](std::size_t e) {
    if (dependencies_->misses_events(e)) return;
    const Cycle at = dependencies_->clear_at(e);
    if (at > now) next = std::min(next, at);
  });
  return next;
}

bool AuthorsTableEngine::timer_running(Cycle now) const {
  const bool rings = next_post_at() > now && next_post_at() != kNever;
  return !done() && (lockstep_until_ > now || next_clear_at(now) != kNever || rings);
}

}  // namespace espalier
