#include "ni/engines/schedule_table_engine.h"

#include <utility>

namespace espalier {

Cycle ScheduleTableEngine::evaluate(Cycle now, BackEnd& back_end) {
  waited_for_ports_ = std::exchange(waits_for_ports_, false);
  stall_ = StallReason::none;
  if (done()) return kNever;
  if (head_read_at_ > now) return stalled(StallReason::step, head_read_at_);
  const Cycle next = decide(now, back_end);
  if (sequencer_->is_clocked()) {
    sequencer_->rest(done() ? SequencerInputs()
                            : inputs_at(now + 1, dependencies_->knows(head_, now + 1), back_end));
  }
  // The next step cannot start before the down-counter has run out.
  const bool step_over = !done() && program_.entries[head_].step > timestep();
  if (step_over && next == now + 1) {
    const Cycle until = sequencer_->lockstep_until();
    return until > next ? stalled(StallReason::lockstep, until) : stalled(StallReason::step, next);
  }
  return next;
}

Cycle ScheduleTableEngine::decide(Cycle now, BackEnd& back_end) {
  Cycle next = kNever;
  for (std::uint32_t issued = 0; !done(); ++issued) {
    const Timestep step = program_.entries[head_].step;
    if (issued != 0 && step != timestep()) break;
    if (issued == spec_.issue_per_cycle) return why_not_issued(now, true);
    const bool clear = dependencies_->is_clear(head_, now);
    const SequencerInputs inputs = inputs_at(now, clear, back_end);
    const SequencerDecision decision = sequencer_->decide(now, inputs);
    if (decision.enters_step) {
      enter_step(false, now, back_end);
      next = now + 1;
    }
    if (!decision.issues) {
      if (step == timestep()) return why_not_issued(now, false);
      if (!decision.enters_step) next = why_not_entered(now, inputs, back_end);
      break;
    }
    issue(program_.entries[head_], now, back_end);
    if (is_observed()) tell_of_issue(head_, why_issued(issued == 0, now), now);
    ++head_;
    next = now + 1;
    if (!done() && program_.entries[head_].rows_passed != 0) {
      const std::uint32_t passed = program_.entries[head_].rows_passed;
      rows_passed_ += passed;
      head_read_at_ = now + rows_cycles(passed, spec_.issue_per_cycle);
      return stalled(StallReason::step, head_read_at_);
    }
  }
  return next;
}

SequencerInputs ScheduleTableEngine::inputs_at(Cycle now, bool clear,
                                               const BackEnd& back_end) const {
  const ProgramEntry& entry = program_.entries[head_];
  const bool in_step = entry.step == timestep();
  SequencerInputs inputs;
  inputs.valid = head_read_at_ <= now;
  inputs.step = entry.step;
  inputs.step_time = spec_.step_time.empty() ? 0 : spec_.step_time[entry.step - 1];
  // In the cycle in which the entry's step begins, its slot is counted from there.
  const Cycle slot = in_step ? slot_at(entry) : slot_of(entry) == 0 ? 0 : kNever;
  inputs.clear = clear && slot <= now;
  inputs.room = inputs.clear && has_room(entry, back_end);
  if (in_step) return inputs;
  inputs.posted = next_release_at() <= now;
  inputs.reduction_idle = back_end.reduction_idle(now);
  inputs.all_sent = back_end.all_sent();
  return inputs;
}

Release ScheduleTableEngine::why_issued(bool is_first, Cycle now) const {
  const ProgramEntry& entry = program_.entries[head_];
  if (slot_at(entry) == now && slot_of(entry) != 0) return Release::slot;
  if (is_first && step_entered_ == now) return Release::step;
  if (entry.rows_passed != 0 && head_read_at_ == now) return Release::rows;
  return waited_for_ports_ ? Release::port : Release::order;
}

Cycle ScheduleTableEngine::why_not_issued(Cycle now, bool at_limit) {
  if (dependencies_->misses_events(head_))
    return stalled(StallReason::event, kNever);  // the event wakes the NI
  if (dependencies_->clear_at(head_) > now) {
    return stalled(StallReason::dma, dependencies_->clear_at(head_));
  }
  const Cycle slot = slot_at(program_.entries[head_]);
  if (slot > now) return stalled(StallReason::slot, slot);
  if (at_limit) return stalled(StallReason::step, now + 1);
  waits_for_ports_ = true;
  return stalled(StallReason::injection, kNever);
}

Cycle ScheduleTableEngine::why_not_entered(Cycle now, const SequencerInputs& inputs,
                                           const BackEnd& back_end) {
  if (!inputs.posted) return stalled(StallReason::doorbell, next_release_at());
  if (sequencer_->lockstep_until() > now) {
    return stalled(StallReason::lockstep, sequencer_->lockstep_until());
  }
  if (!inputs.reduction_idle) {
    return stalled(StallReason::lockstep, back_end.reduction_idle_at());
  }
  waits_for_ports_ = true;
  return stalled(StallReason::lockstep, kNever);
}

std::vector<RtlPlace> ScheduleTableEngine::rtl(const std::string& scope) {
  std::vector<RtlPlace> models;
  for (RtlProbe* probe : {sequencer_->rtl_probe(), dependencies_->rtl_probe()}) {
    if (probe != nullptr) models.push_back({scope, probe});
  }
  return models;
}

}  // namespace espalier
