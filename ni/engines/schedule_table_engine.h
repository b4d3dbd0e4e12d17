// The issue engine of MultiTree's NI: schedule table, timestep counter and lockstep down-counter
// (section IV-A, Fig. 6).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "ni/engine_view.h"
#include "ni/engines/dependency_state.h"
#include "ni/engines/table_program.h"
#include "ni/engines/table_sequencer.h"
#include "ni/issue_engine.h"
#include "ni/modes.h"

namespace espalier {

// Cycles of a clock until a slot begins, rounded up.
[[nodiscard]] constexpr Cycle slot_cycles(std::uint64_t not_before_ps, std::uint64_t hertz) {
  constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
  // In two parts, so that the product fits 64 bits up to 1 THz and months.
  const std::uint64_t mhz = hertz / 1'000'000;
  return hertz % 1'000'000 == 0
             ? (not_before_ps * mhz + 999'999) / 1'000'000
             : static_cast<Cycle>(static_cast<double>(not_before_ps) * static_cast<double>(hertz) /
                                  static_cast<double>(kPsPerSecond)) +
                   1;
}

// From an issue to the first cycle in which the next entry may issue, with `passed` rows between.
[[nodiscard]] constexpr Cycle rows_cycles(std::uint32_t passed, std::uint32_t issue_per_cycle) {
  return 1 + (passed + issue_per_cycle - 1) / issue_per_cycle;
}

class ScheduleTableEngine : public IssueEngine {
 public:
  struct Spec {
    LockstepMode lockstep = LockstepMode::estimate;
    std::uint32_t issue_per_cycle = 1;  // entries
    // From the write-back of a reduced chunk to the first cycle in which a root's Gather may read
    // it.
    Cycle turnaround = 2;
    // By step (index 0 is step 1): the estimate with which the down-counter is loaded.
    std::vector<Cycle> step_time;
    // The first steps of collectives that the host posts later, ascending. Such a step does not
    // start before its doorbell, in any lockstep mode.
    struct Release {
      Timestep step;
      Cycle at;
    };
    std::vector<Release> releases{};
    // A step that the hosts post while the simulation runs (Schedule::posted_step); 0: none.
    Timestep posted_step = 0;
    // Frequency of the slot counter's clock; 0: there is no counter, and slots are ignored.
    std::uint64_t slot_clock_hertz = 0;
    IssueOrder order = IssueOrder::head;
    bool takes_any_port = false;  // PortBinding::any
    MakeSequencer sequencer = make_sequencer;
    MakeDependencies dependencies = make_dependencies;
  };

  // `program` and the tables of `frame` must outlive the engine.
  ScheduleTableEngine(const TableProgram& program, const NodeFrame& frame, const Spec& spec);

  // Moves the timestep counter if the step is over, then issues entries of the present step: in
  // table order, or, with IssueOrder::step, every one that can go, in ascending flow. The sends
  // of an entry start in one cycle or not at all.
  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  // True if the flows that the Reduce's entry comes after are complete.
  [[nodiscard]] bool may_add(const Operation& operation) const override;
  [[nodiscard]] std::uint64_t decisions() const override {
    return head_ + issued_beyond_ + rows_passed_;
  }
  [[nodiscard]] bool done() const override { return head_ == program_.entries.size(); }
  [[nodiscard]] bool waits_for_ports() const override { return waits_for_ports_; }
  // True if the head entry, or the next step, waits for time to pass.
  [[nodiscard]] bool timer_running(Cycle now) const override {
    return !done() && (sequencer_->lockstep_until() > now || head_read_at_ > now ||
                       next_clear_at(now) != kNever || doorbell_rings_after(now) ||
                       slot_at(program_.entries[head_]) > now);
  }
  void prepare_to_show() override;
  void show(EngineView& view) const override;
  [[nodiscard]] std::vector<RtlPlace> rtl(const std::string& scope) override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

  // `event`, in the table's names, has happened. Entries that wait for it may issue from cycle now
  // + 1 on.
  void clear(const TableEvent& event, Cycle now) { dependencies_->set(event, now); }
  // The hosts post Spec::posted_step: it may start in cycle `at`, later than now.
  void post(Cycle at) { posted_at_ = at; }
  [[nodiscard]] std::size_t head() const { return head_; }
  [[nodiscard]] Timestep timestep() const { return sequencer_->timestep(); }
  // The value of the lockstep down-counter.
  [[nodiscard]] Cycle lockstep_counter(Cycle now) const {
    const Cycle until = sequencer_->lockstep_until();
    return until > now ? until - now : 0;
  }
  // The events, in the table's names, that the head entry still waits for.
  [[nodiscard]] std::vector<TableEvent> head_waits_for() const;

 private:
  Cycle stalled(StallReason reason, Cycle again) {
    stall_ = reason;
    return again;
  }
  // Decides for entries from the head on, and issues them.
  Cycle decide(Cycle now, BackEnd& back_end);
  // The entry to decide for: the head, or with IssueOrder::step the entry of the lowest flow in the
  // head's step that can issue, if there is one.
  [[nodiscard]] std::size_t next_entry(Cycle now, const BackEnd& back_end) const;
  // The entry has issued.
  void pass(std::size_t entry);
  // Entries from the head on that may issue in the head's step.
  template <class Visit>
  void for_each_candidate(Visit&& visit) const;
  // The first cycle after `now` in which a candidate that misses no event is clear; kNever: none.
  [[nodiscard]] Cycle next_clear_at(Cycle now) const;
  // `clear`: the entry's messages have come and are written back.
  [[nodiscard]] SequencerInputs inputs_at(std::size_t entry, Cycle now, bool clear,
                                          const BackEnd& back_end) const;
  void enter_step(Cycle now);
  // Why the next step does not begin, and the head entry does not issue. Return the next cycle in
  // which to try again.
  Cycle why_not_entered(Cycle now, const SequencerInputs& inputs, const BackEnd& back_end);
  Cycle why_not_issued(Cycle now, bool at_limit);
  Cycle why_none_issued(Cycle now);
  [[nodiscard]] bool has_room(const ProgramEntry& entry, const BackEnd& back_end) const;
  void issue(const ProgramEntry& entry, Cycle now, BackEnd& back_end) const;
  // Clears the event. Returns true if the head entry misses no more events; it may still wait for
  // time to pass.
  bool clear_in_table(const TableEvent& in_network, Cycle now);
  // Cycles from the beginning of the entry's step to its slot; 0: it has none.
  [[nodiscard]] Cycle slot_of(const ProgramEntry& entry) const {
    return spec_.slot_clock_hertz == 0 || entry.not_before_ps == 0
               ? 0
               : slot_cycles(entry.not_before_ps, spec_.slot_clock_hertz);
  }
  // The first cycle of the entry's slot, if the NI is in the entry's step; 0 if it has none.
  [[nodiscard]] Cycle slot_at(const ProgramEntry& entry) const {
    const Cycle slot = entry.step == timestep() ? slot_of(entry) : 0;
    return slot == 0 ? 0 : step_entered_ + slot;
  }
  // The doorbell that the next step waits for; 0 if it waits for none, kNever if nobody knows yet.
  [[nodiscard]] Cycle next_step_posted_at() const {
    if (spec_.posted_step != 0 && spec_.posted_step == timestep() + 1) return posted_at_;
    const bool waits = next_release_ < spec_.releases.size() &&
                       spec_.releases[next_release_].step == timestep() + 1;
    return waits ? spec_.releases[next_release_].at : 0;
  }

  [[nodiscard]] bool doorbell_rings_after(Cycle now) const {
    const Cycle at = next_step_posted_at();
    return at > now && at != kNever;
  }

  const TableProgram& program_;
  NodeFrame frame_;  // between the table and the rest of the NI
  Spec spec_;
  std::unique_ptr<DependencyState> dependencies_;
  std::vector<std::vector<std::uint32_t>> waiters_of_entry_;  // filled only for show()
  std::size_t head_ = 0;
  // IssueOrder::step: entries that have issued, and how many of them are behind the head.
  std::vector<bool> issued_;
  std::size_t issued_beyond_ = 0;
  std::uint64_t rows_passed_ = 0;
  Cycle head_read_at_ = 0;  // the memory has given the head entry; rows that do not issue take time
  std::unique_ptr<TableSequencer> sequencer_;
  Cycle step_entered_ = 0;  // first cycle in which an entry of the step may issue
  std::size_t next_release_ = 0;
  Cycle posted_at_ = kNever;  // of Spec::posted_step
  bool waits_for_ports_ = false;
  StallReason stall_ = StallReason::none;  // of the last evaluation
};

}  // namespace espalier
