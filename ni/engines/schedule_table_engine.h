// The issue engine of MultiTree's NI: schedule table, timestep counter and lockstep down-counter
// (section IV-A, Fig. 6).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ni/engines/table_engine.h"

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

class ScheduleTableEngine : public TableEngine {
 public:
  ScheduleTableEngine(const TableProgram& program, const NodeFrame& frame, const Spec& spec)
      : TableEngine(program, frame, spec),
        sequencer_(spec.sequencer(spec.lockstep, spec.issue_per_cycle)) {}

  // Moves the timestep counter if the step is over, then issues entries of the present step in
  // table order. The sends of an entry start in one cycle or not at all.
  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  [[nodiscard]] std::uint64_t decisions() const override { return head_ + rows_passed_; }
  // True if the head entry, or the next step, waits for time to pass.
  [[nodiscard]] bool timer_running(Cycle now) const override {
    return !done() &&
           (lockstep_until() > now || head_read_at_ > now || dependencies_->clear_at(head_) > now ||
            next_release_at() > now || slot_at(program_.entries[head_]) > now);
  }
  [[nodiscard]] std::vector<RtlPlace> rtl(const std::string& scope) override;
  [[nodiscard]] Timestep timestep() const override { return sequencer_->timestep(); }
  [[nodiscard]] Cycle lockstep_until() const override { return sequencer_->lockstep_until(); }
  // The value of the lockstep down-counter.
  [[nodiscard]] Cycle lockstep_counter(Cycle now) const {
    return lockstep_until() > now ? lockstep_until() - now : 0;
  }

 private:
  // Decides for entries from the head on, and issues them.
  Cycle decide(Cycle now, BackEnd& back_end);
  // Of the head entry. `clear`: its messages have come and are written back.
  [[nodiscard]] SequencerInputs inputs_at(Cycle now, bool clear, const BackEnd& back_end) const;
  // What let the head entry issue now, if its events came before. `is_first`: it is the first entry
  // of this evaluation.
  [[nodiscard]] Release why_issued(bool is_first, Cycle now) const;
  // Why the next step does not begin, and the head entry does not issue. Return the next cycle in
  // which to try again.
  Cycle why_not_entered(Cycle now, const SequencerInputs& inputs, const BackEnd& back_end);
  Cycle why_not_issued(Cycle now, bool at_limit);
  // The head entry may still wait for time to pass.
  [[nodiscard]] bool may_issue() const override { return !dependencies_->misses_events(head_); }
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
  std::uint64_t rows_passed_ = 0;
  Cycle head_read_at_ = 0;  // the memory has given the head entry; rows that do not issue take time
  std::unique_ptr<TableSequencer> sequencer_;
};

}  // namespace espalier
