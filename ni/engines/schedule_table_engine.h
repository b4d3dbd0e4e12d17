// The issue engine of MultiTree's NI: schedule table, timestep counter and lockstep down-counter
// (section IV-A, Fig. 6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "ni/engine_view.h"
#include "ni/engines/table_program.h"
#include "ni/modes.h"

namespace espalier {

// What the engine sees of the back end when it decides.
struct BackEndState {
  bool reduction_idle = true;
  Cycle reduction_idle_at = 0;  // where it is not idle
  bool all_sent = true;         // every operation issued so far has left this NI
};

class ScheduleTableEngine {
 public:
  struct Spec {
    LockstepMode lockstep = LockstepMode::estimate;
    std::uint32_t issue_per_cycle = 1;  // entries
    Cycle turnaround = 2;               // reduced chunk written back -> a root's Gather may read it
    std::vector<Cycle>
        step_time;  // estimate by step (index 0 is step 1), what the down-counter is loaded with
    // Steps with which collectives begin that the host posts later, ascending: none starts before
    // its doorbell, in any lockstep mode.
    struct Release {
      Timestep step;
      Cycle at;
    };
    std::vector<Release> releases{};
  };

  ScheduleTableEngine(const TableProgram& program, const Spec& spec);

  // Entries that wait for the event may issue from cycle now + 1 on.
  void clear(const TableEvent& event, Cycle now);
  // A Reduce of `flow` may be added to memory: the flows that its entry comes after are complete.
  [[nodiscard]] bool may_add(FlowId flow) const;

  // Moves the timestep counter if the step is over, then issues entries of the present step in
  // table order. `try_issue(send)` starts one send and returns false where its injection queue is
  // full; an entry's sends are started in one cycle or not at all, so it is asked for room first
  // with `has_room(send)`. Returns the next cycle at which time alone may change the outcome;
  // kNever if an event must.
  template <class HasRoom, class Issue>
  Cycle evaluate(Cycle now, const BackEndState& back_end, HasRoom&& has_room, Issue&& issue);

  // No event is missing for the head entry: only time may still keep it.
  [[nodiscard]] bool head_clear() const { return !done() && pending_[head_] == 0; }
  // The last evaluation was stopped by a full queue, or by sends that have not left yet.
  [[nodiscard]] bool waits_for_ports() const { return waits_for_ports_; }

  [[nodiscard]] bool done() const { return head_ == program_.entries.size(); }
  [[nodiscard]] Timestep timestep() const { return timestep_; }
  // Value of the lockstep down-counter.
  [[nodiscard]] Cycle lockstep_counter(Cycle now) const {
    return lockstep_until_ > now ? lockstep_until_ - now : 0;
  }
  // The head entry, or the next step, waits for time to pass.
  [[nodiscard]] bool timer_running(Cycle now) const {
    return !done() &&
           (lockstep_until_ > now || clear_at_[head_] > now || next_step_posted_at() > now);
  }
  [[nodiscard]] std::size_t head() const { return head_; }
  // Before view() is asked for; by each who will.
  void index_waiters();
  // After an evaluation.
  [[nodiscard]] TableView view() const;
  // For the watchdog: the events that the head entry still waits for.
  [[nodiscard]] std::vector<TableEvent> head_waits_for() const;

 private:
  Cycle stalled(StallReason reason, Cycle again) {
    stall_ = reason;
    return again;
  }
  // Tries to enter the next step; returns the cycle at which it is worth trying again.
  Cycle advance_timestep(Cycle now, const BackEndState& back_end);
  void load_lockstep_counter(Cycle now);
  // The doorbell that the step after the present one waits for; 0 where there is none.
  [[nodiscard]] Cycle next_step_posted_at() const {
    const bool waits = next_release_ < spec_.releases.size() &&
                       spec_.releases[next_release_].step == timestep_ + 1;
    return waits ? spec_.releases[next_release_].at : 0;
  }

  const TableProgram& program_;
  Spec spec_;
  std::vector<std::uint32_t> pending_;        // by entry: events still missing
  std::vector<std::uint32_t> pending_flows_;  // by entry: those of them that complete flows
  std::vector<Cycle> clear_at_;   // by entry: may issue from this cycle on once nothing is pending
  std::vector<bool> seen_;        // by waiter
  bool waits_for_sends_ = false;  // some entry waits for a send of this NI
  std::vector<std::uint32_t> waiters_of_flow_;  // by flow: its first waiter; one more at the end
  std::vector<std::vector<std::uint32_t>> waiters_of_entry_;  // where views are asked for
  std::size_t head_ = 0;
  Timestep timestep_ = 0;
  std::size_t next_release_ = 0;
  Cycle lockstep_until_ = 0;
  bool counter_loaded_ = true;  // for the present step
  bool waits_for_ports_ = false;
  StallReason stall_ = StallReason::none;  // of the last evaluation
};

template <class HasRoom, class Issue>
Cycle ScheduleTableEngine::evaluate(Cycle now, const BackEndState& back_end, HasRoom&& has_room,
                                    Issue&& issue) {
  waits_for_ports_ = false;
  stall_ = StallReason::none;
  if (done()) return kNever;
  Cycle next = kNever;
  if (program_.entries[head_].step > timestep_) next = advance_timestep(now, back_end);
  for (std::uint32_t issued = 0; !done() && program_.entries[head_].step == timestep_; ++issued) {
    const ProgramEntry& entry = program_.entries[head_];
    if (pending_[head_] != 0) return stalled(StallReason::event, kNever);  // it wakes the NI
    if (clear_at_[head_] > now) return stalled(StallReason::dma, clear_at_[head_]);
    if (issued == spec_.issue_per_cycle) return stalled(StallReason::step, now + 1);
    const Operation* sends = program_.sends.data() + entry.first_send;
    for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
      if (has_room(sends[s])) continue;
      waits_for_ports_ = true;
      return stalled(StallReason::injection, kNever);
    }
    if (!counter_loaded_) load_lockstep_counter(now);
    for (std::uint32_t s = 0; s < entry.num_sends; ++s) issue(sends[s]);
    ++head_;
    next = now + 1;
  }
  // The next step cannot start before the down-counter has run out.
  const bool step_over = !done() && program_.entries[head_].step > timestep_;
  if (step_over && next == now + 1) {
    return lockstep_until_ > next ? stalled(StallReason::lockstep, lockstep_until_)
                                  : stalled(StallReason::step, next);
  }
  return next;
}

}  // namespace espalier
