#include "ni/engines/schedule_table_engine.h"

namespace espalier {

ScheduleTableEngine::ScheduleTableEngine(const TableProgram& program, const NodeFrame& frame,
                                         const Spec& spec)
    : spec_(spec),
      table_(program, frame, spec.dependencies(program, spec.turnaround, spec.issue_per_cycle)),
      doorbells_(spec.releases),
      sequencer_(spec_.sequencer(spec.lockstep, spec.issue_per_cycle)) {}

Cycle ScheduleTableEngine::evaluate(Cycle now, BackEnd& back_end) {
  waits_for_ports_ = false;
  stall_ = StallReason::none;
  if (done()) return kNever;
  if (head_read_at_ > now) return stalled(StallReason::step, head_read_at_);
  const Cycle next = decide(now, back_end);
  if (sequencer_->is_clocked()) {
    sequencer_->rest(done() ? SequencerInputs()
                            : inputs_at(now + 1, dependencies().knows(head_, now + 1), back_end));
  }
  // The next step cannot start before the down-counter has run out.
  const bool step_over = !done() && table_.entry(head_).step > timestep();
  if (step_over && next == now + 1) {
    const Cycle until = sequencer_->lockstep_until();
    return until > next ? stalled(StallReason::lockstep, until) : stalled(StallReason::step, next);
  }
  return next;
}

Cycle ScheduleTableEngine::decide(Cycle now, BackEnd& back_end) {
  Cycle next = kNever;
  for (std::uint32_t issued = 0; !done(); ++issued) {
    const Timestep step = table_.entry(head_).step;
    if (issued != 0 && step != timestep()) break;
    if (issued == spec_.issue_per_cycle) return why_not_issued(now, true);
    const bool clear = dependencies().is_clear(head_, now);
    const SequencerInputs inputs = inputs_at(now, clear, back_end);
    const SequencerDecision decision = sequencer_->decide(now, inputs);
    if (decision.enters_step) {
      enter_step(now);
      next = now + 1;
    }
    if (!decision.issues) {
      if (step == timestep()) return why_not_issued(now, false);
      if (!decision.enters_step) next = why_not_entered(now, inputs, back_end);
      break;
    }
    table_.issue(head_, now, back_end);
    ++head_;
    next = now + 1;
    if (!done() && table_.entry(head_).rows_passed != 0) {
      const std::uint32_t passed = table_.entry(head_).rows_passed;
      rows_passed_ += passed;
      head_read_at_ = now + rows_cycles(passed, spec_.issue_per_cycle);
      return stalled(StallReason::step, head_read_at_);
    }
  }
  return next;
}

SequencerInputs ScheduleTableEngine::inputs_at(Cycle now, bool clear,
                                               const BackEnd& back_end) const {
  const ProgramEntry& entry = table_.entry(head_);
  const bool in_step = entry.step == timestep();
  SequencerInputs inputs;
  inputs.valid = head_read_at_ <= now;
  inputs.step = entry.step;
  inputs.step_time = spec_.step_time.empty() ? 0 : spec_.step_time[entry.step - 1];
  // In the cycle in which the entry's step begins, its slot is counted from there.
  const Cycle slot = in_step ? slot_at(entry) : slot_of(entry) == 0 ? 0 : kNever;
  inputs.clear = clear && slot <= now;
  inputs.room = inputs.clear && table_.has_room(head_, back_end);
  if (in_step) return inputs;
  inputs.posted = next_step_posted_at() <= now;
  inputs.reduction_idle = back_end.reduction_idle(now);
  inputs.all_sent = back_end.all_sent();
  return inputs;
}

Cycle ScheduleTableEngine::why_not_issued(Cycle now, bool at_limit) {
  if (dependencies().misses_events(head_))
    return stalled(StallReason::event, kNever);  // the event wakes the NI
  if (dependencies().clear_at(head_) > now) {
    return stalled(StallReason::dma, dependencies().clear_at(head_));
  }
  const Cycle slot = slot_at(table_.entry(head_));
  if (slot > now) return stalled(StallReason::slot, slot);
  if (at_limit) return stalled(StallReason::step, now + 1);
  waits_for_ports_ = true;
  return stalled(StallReason::injection, kNever);
}

Cycle ScheduleTableEngine::why_not_entered(Cycle now, const SequencerInputs& inputs,
                                           const BackEnd& back_end) {
  if (!inputs.posted) return stalled(StallReason::doorbell, next_step_posted_at());
  if (sequencer_->lockstep_until() > now) {
    return stalled(StallReason::lockstep, sequencer_->lockstep_until());
  }
  if (!inputs.reduction_idle) {
    return stalled(StallReason::lockstep, back_end.reduction_idle_at());
  }
  waits_for_ports_ = true;
  return stalled(StallReason::lockstep, kNever);
}

void ScheduleTableEngine::enter_step(Cycle now) {
  step_entered_ = now;
  doorbells_.step_begins(timestep());
}

void ScheduleTableEngine::show(EngineView& shown) const {
  TableView& view = shown.table.emplace();
  view.timestep = timestep();
  view.lockstep_until = sequencer_->lockstep_until();
  view.head = head_;
  view.stall = stall_;
  table_.show(view);
}

std::vector<RtlPlace> ScheduleTableEngine::rtl(const std::string& scope) {
  std::vector<RtlPlace> models;
  for (RtlProbe* probe : {sequencer_->rtl_probe(), dependencies().rtl_probe()}) {
    if (probe != nullptr) models.push_back({scope, probe});
  }
  return models;
}

}  // namespace espalier
