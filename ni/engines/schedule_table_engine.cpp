#include "ni/engines/schedule_table_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace espalier {

namespace {
StallReason reason_of(const TableEvent& event) {
  if (event.is_send()) return StallReason::injection;
  return event.kind == TableEvent::Kind::reduced ? StallReason::children : StallReason::parent;
}

}  // namespace

ScheduleTableEngine::ScheduleTableEngine(const TableProgram& program, const NodeFrame& frame,
                                         const Spec& spec)
    : program_(program),
      frame_(frame),
      spec_(spec),
      dependencies_(spec_.dependencies(program, spec.turnaround, spec.issue_per_cycle)),
      sequencer_(spec_.sequencer(spec.lockstep, spec.issue_per_cycle)) {
  if (spec_.order == IssueOrder::step) issued_.resize(program.entries.size(), false);
}

Cycle ScheduleTableEngine::evaluate(Cycle now, BackEnd& back_end) {
  waits_for_ports_ = false;
  stall_ = StallReason::none;
  if (done()) return kNever;
  if (head_read_at_ > now) return stalled(StallReason::step, head_read_at_);
  const Cycle next = decide(now, back_end);
  if (sequencer_->is_clocked()) {
    sequencer_->rest(
        done() ? SequencerInputs()
               : inputs_at(head_, now + 1, dependencies_->knows(head_, now + 1), back_end));
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
    if (issued != 0 && program_.entries[head_].step != timestep()) break;
    if (issued == spec_.issue_per_cycle) return why_not_issued(now, true);
    const std::size_t index = next_entry(now, back_end);
    const ProgramEntry& entry = program_.entries[index];
    const bool clear = dependencies_->is_clear(index, now);
    const SequencerInputs inputs = inputs_at(index, now, clear, back_end);
    const SequencerDecision decision = sequencer_->decide(now, inputs);
    if (decision.enters_step) {
      enter_step(now);
      next = now + 1;
    }
    if (!decision.issues) {
      if (entry.step == timestep()) return why_not_issued(now, false);
      if (!decision.enters_step) next = why_not_entered(now, inputs, back_end);
      break;
    }
    issue(entry, now, back_end);
    pass(index);
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

template <class Visit>
void ScheduleTableEngine::for_each_candidate(Visit&& visit) const {
  const Timestep step = program_.entries[head_].step;
  for (std::size_t e = head_; e < issued_.size() && program_.entries[e].step == step; ++e) {
    if (!issued_[e]) visit(e);
  }
}

std::size_t ScheduleTableEngine::next_entry(Cycle now, const BackEnd& back_end) const {
  std::size_t next = program_.entries.size();
  for_each_candidate([&](std::size_t e) {
    const ProgramEntry& entry = program_.entries[e];
    if (!dependencies_->is_clear(e, now)) return;
    if (next != program_.entries.size()) {
      const ProgramEntry& first = program_.entries[next];
      if (std::tie(first.turn, first.flow) <= std::tie(entry.turn, entry.flow)) return;
    }
    if (has_room(entry, back_end)) next = e;
  });
  return next == program_.entries.size() ? head_ : next;
}

void ScheduleTableEngine::pass(std::size_t entry) {
  if (spec_.order == IssueOrder::head) {
    ++head_;
    return;
  }
  issued_[entry] = true;
  ++issued_beyond_;
  while (!done() && issued_[head_]) {
    ++head_;
    --issued_beyond_;
  }
}

Cycle ScheduleTableEngine::next_clear_at(Cycle now) const {
  const auto clear_at = [&](std::size_t entry) {
    const Cycle at = dependencies_->clear_at(entry);
    return at > now ? at : kNever;
  };
  if (spec_.order == IssueOrder::head) return clear_at(head_);
  Cycle next = kNever;
  for_each_candidate([&](std::size_t e) {
    if (!dependencies_->misses_events(e)) next = std::min(next, clear_at(e));
  });
  return next;
}

template <class Visit>
void ScheduleTableEngine::for_each_awaited_root(Visit&& visit) const {
  if (!begins_gathers()) return;
  const Timestep step = timestep() + 1;
  for (std::size_t e = head_; e < program_.entries.size(); ++e) {
    if (program_.entries[e].step != step) break;
    if (program_.entries[e].reads_back) visit(e);
  }
}

bool ScheduleTableEngine::may_gather(Cycle now, const BackEnd& back_end) const {
  if (!begins_gathers()) return true;
  bool may = back_end.all_sent();
  for_each_awaited_root([&](std::size_t e) { may = may && dependencies_->knows(e, now); });
  return may;
}

Cycle ScheduleTableEngine::roots_clear_at(Cycle now) const {
  Cycle next = kNever;
  for_each_awaited_root([&](std::size_t e) {
    const Cycle at = dependencies_->clear_at(e);
    if (!dependencies_->misses_events(e) && at > now) next = std::min(next, at);
  });
  return next;
}

SequencerInputs ScheduleTableEngine::inputs_at(std::size_t index, Cycle now, bool clear,
                                               const BackEnd& back_end) const {
  const ProgramEntry& entry = program_.entries[index];
  const bool in_step = entry.step == timestep();
  SequencerInputs inputs;
  inputs.valid = head_read_at_ <= now;
  inputs.step = entry.step;
  inputs.step_time = spec_.step_time.empty() ? 0 : spec_.step_time[entry.step - 1];
  // In the cycle in which the entry's step begins, its slot is counted from there.
  const Cycle slot = in_step ? slot_at(entry) : slot_of(entry) == 0 ? 0 : kNever;
  inputs.clear = clear && slot <= now;
  inputs.room = inputs.clear && has_room(entry, back_end);
  inputs.sends = entry.op != TableOp::nop;
  if (in_step) return inputs;
  inputs.posted = next_step_posted_at() <= now && may_gather(now, back_end);
  inputs.reduction_idle = back_end.reduction_idle(now);
  inputs.all_sent = back_end.all_sent();
  return inputs;
}

Cycle ScheduleTableEngine::why_not_issued(Cycle now, bool at_limit) {
  if (spec_.order == IssueOrder::step) {
    return at_limit ? stalled(StallReason::step, now + 1) : why_none_issued(now);
  }
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

// IssueOrder::step: what the step waits for, with entries that miss different things.
Cycle ScheduleTableEngine::why_none_issued(Cycle now) {
  for_each_candidate([&](std::size_t e) { waits_for_ports_ |= dependencies_->knows(e, now); });
  const Cycle next = next_clear_at(now);
  if (waits_for_ports_) return stalled(StallReason::injection, next);
  return stalled(next == kNever ? StallReason::event : StallReason::dma, next);
}

bool ScheduleTableEngine::has_room(const ProgramEntry& entry, const BackEnd& back_end) const {
  if (spec_.takes_any_port) return back_end.has_ports_for(entry.num_sends);
  for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
    Operation routed = program_.sends[entry.first_send + s];
    routed.route = frame_.route_in_network(routed.route);
    if (!back_end.has_room(routed)) return false;
  }
  return true;
}

void ScheduleTableEngine::issue(const ProgramEntry& entry, Cycle now, BackEnd& back_end) const {
  for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
    Operation operation = frame_.in_network(program_.sends[entry.first_send + s]);
    operation.ready = now;
    back_end.issue(operation, now);
  }
}

bool ScheduleTableEngine::sent(const Operation& operation, Cycle now) {
  const bool reduce = operation.on_arrival == TransferKind::reduce;
  const auto kind = reduce ? TableEvent::Kind::reduce_sent : TableEvent::Kind::gather_sent;
  return clear_in_table({operation.flow, kind, operation.to}, now);
}

bool ScheduleTableEngine::completed(const Operation& operation, Cycle now) {
  const bool reduced = operation.on_arrival == TransferKind::reduce;
  const auto kind = reduced ? TableEvent::Kind::reduced : TableEvent::Kind::gathered;
  return clear_in_table({operation.flow, kind, operation.from}, now);
}

bool ScheduleTableEngine::clear_in_table(const TableEvent& in_network, Cycle now) {
  clear(frame_.in_table(in_network), now);
  if (done()) return false;
  return spec_.order == IssueOrder::step || begins_gathers() ||
         !dependencies_->misses_events(head_);
}

bool ScheduleTableEngine::may_add(const Operation& operation) const {
  const FlowId flow = frame_.in_table(operation.flow);
  const auto& holds = program_.holds;
  const auto before = [](const TableProgram::Hold& h, FlowId f) { return h.flow < f; };
  for (auto h = std::lower_bound(holds.begin(), holds.end(), flow, before);
       h != holds.end() && h->flow == flow; ++h) {
    if (!dependencies_->flows_complete(h->entry)) return false;
  }
  return true;
}

Cycle ScheduleTableEngine::why_not_entered(Cycle now, const SequencerInputs& inputs,
                                           const BackEnd& back_end) {
  if (next_step_posted_at() > now) return stalled(StallReason::doorbell, next_step_posted_at());
  if (!inputs.posted) {
    waits_for_ports_ = true;
    return stalled(StallReason::children, roots_clear_at(now));
  }
  if (sequencer_->lockstep_until() > now) {
    return stalled(StallReason::lockstep, sequencer_->lockstep_until());
  }
  if (!inputs.reduction_idle && spec_.lockstep != LockstepMode::nop) {
    return stalled(StallReason::lockstep, back_end.reduction_idle_at());
  }
  waits_for_ports_ = true;
  return stalled(StallReason::lockstep, kNever);
}

void ScheduleTableEngine::enter_step(Cycle now) {
  step_entered_ = now;
  if (next_release_ < spec_.releases.size() && spec_.releases[next_release_].step == timestep()) {
    ++next_release_;
  }
}

void ScheduleTableEngine::prepare_to_show() {
  if (!waiters_of_entry_.empty()) return;
  waiters_of_entry_.resize(program_.entries.size());
  for (std::size_t w = 0; w < program_.waiters.size(); ++w) {
    waiters_of_entry_[program_.waiters[w].entry].push_back(static_cast<std::uint32_t>(w));
  }
}

void ScheduleTableEngine::show(EngineView& shown) const {
  TableView& view = shown.table.emplace();
  view.timestep = timestep();
  view.lockstep_until = sequencer_->lockstep_until();
  view.head = head_;
  view.done = done();
  view.stall = stall_;
  if (done()) return;
  const ProgramEntry& entry = program_.entries[head_];
  view.op = static_cast<std::uint8_t>(entry.op);
  view.flow = entry.flow;
  if (view.flow.valid()) {
    view.flow = frame_.in_network({entry.flow, TableEvent::Kind::gathered, NodeId(0)}).flow;
  }
  view.head_step = entry.step;
  const std::vector<std::uint32_t>& waiters = waiters_of_entry_[head_];
  for (std::size_t bit = 0; bit < waiters.size(); ++bit) {
    const std::uint32_t waiter = waiters[bit];
    if (dependencies_->has_come(waiter)) {
      if (bit < kReadyBits) view.ready_bits |= std::uint64_t{1} << bit;
      continue;
    }
    if (view.stall == StallReason::event) view.stall = reason_of(program_.waiters[waiter].event);
  }
}

std::vector<RtlPlace> ScheduleTableEngine::rtl(const std::string& scope) {
  std::vector<RtlPlace> models;
  for (RtlProbe* probe : {sequencer_->rtl_probe(), dependencies_->rtl_probe()}) {
    if (probe != nullptr) models.push_back({scope, probe});
  }
  return models;
}

void ScheduleTableEngine::explain(const std::string& who, const std::vector<std::string>& ni_names,
                                  WaitList& waits) const {
  for (const TableEvent& in_table : head_waits_for()) {
    const TableEvent event = frame_.in_network(in_table);
    const bool own = event.is_send();
    waits.push_back(
        {who, own ? who : ni_names[event.peer.index()],
         fmt::format("table entry {} (step {}) waits for the {} of flow {} {} node {}", head_,
                     timestep(), event.is_reduce() ? "Reduce" : "Gather", event.flow.index(),
                     own ? "to be sent to" : "from", event.peer.index())});
  }
}

std::vector<TableEvent> ScheduleTableEngine::head_waits_for() const {
  std::vector<TableEvent> missing;
  for (std::size_t w = 0; w < program_.waiters.size() && !done(); ++w) {
    if (program_.waiters[w].entry == head_ && !dependencies_->has_come(w))
      missing.push_back(program_.waiters[w].event);
  }
  return missing;
}

}  // namespace espalier
