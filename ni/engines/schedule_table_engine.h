// The issue engine of MultiTree's NI: schedule table, timestep counter and lockstep down-counter
// (section IV-A, Fig. 6).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "ni/engine_view.h"
#include "ni/engines/loaded_table.h"
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
    std::vector<Doorbells::Release> releases{};
    // Frequency of the slot counter's clock; 0: there is no counter, and slots are ignored.
    std::uint64_t slot_clock_hertz = 0;
    MakeSequencer sequencer = make_sequencer;
    MakeDependencies dependencies = make_dependencies;
  };

  // `program` and the tables of `frame` must outlive the engine.
  ScheduleTableEngine(const TableProgram& program, const NodeFrame& frame, const Spec& spec);

  // Moves the timestep counter if the step is over, then issues entries of the present step in
  // table order. The sends of an entry start in one cycle or not at all.
  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  // Both return true if the head entry misses no more events; it may still wait for time to pass.
  bool sent(const Operation& operation, Cycle now) override {
    table_.sent(operation, now);
    return !done() && !dependencies().misses_events(head_);
  }
  bool completed(const Operation& operation, Cycle now) override {
    table_.completed(operation, now);
    return !done() && !dependencies().misses_events(head_);
  }
  // True if the flows that the Reduce's entry comes after are complete.
  [[nodiscard]] bool may_add(const Operation& operation) const override {
    return table_.may_add(operation);
  }
  [[nodiscard]] std::uint64_t decisions() const override { return head_ + rows_passed_; }
  [[nodiscard]] bool done() const override { return head_ == table_.size(); }
  [[nodiscard]] bool waits_for_ports() const override { return waits_for_ports_; }
  // True if the head entry, or the next step, waits for time to pass.
  [[nodiscard]] bool timer_running(Cycle now) const override {
    return !done() && (sequencer_->lockstep_until() > now || head_read_at_ > now ||
                       dependencies().clear_at(head_) > now || next_step_posted_at() > now ||
                       slot_at(table_.entry(head_)) > now);
  }
  void prepare_to_show() override { table_.prepare_to_show(); }
  void show(EngineView& view) const override;
  [[nodiscard]] std::vector<RtlPlace> rtl(const std::string& scope) override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override {
    table_.explain(head_, timestep(), who, ni_names, waits);
  }

  // `event`, in the table's names, has happened. Entries that wait for it may issue from cycle now
  // + 1 on.
  void clear(const TableEvent& event, Cycle now) { dependencies().set(event, now); }
  [[nodiscard]] std::size_t head() const { return head_; }
  [[nodiscard]] Timestep timestep() const { return sequencer_->timestep(); }
  // The value of the lockstep down-counter.
  [[nodiscard]] Cycle lockstep_counter(Cycle now) const {
    const Cycle until = sequencer_->lockstep_until();
    return until > now ? until - now : 0;
  }
  // The events, in the table's names, that the head entry still waits for.
  [[nodiscard]] std::vector<TableEvent> head_waits_for() const { return table_.missing(head_); }

 private:
  Cycle stalled(StallReason reason, Cycle again) {
    stall_ = reason;
    return again;
  }
  // Decides for entries from the head on, and issues them.
  Cycle decide(Cycle now, BackEnd& back_end);
  [[nodiscard]] DependencyState& dependencies() const { return table_.dependencies(); }
  // Of the head entry. `clear`: its messages have come and are written back.
  [[nodiscard]] SequencerInputs inputs_at(Cycle now, bool clear, const BackEnd& back_end) const;
  void enter_step(Cycle now);
  // Why the next step does not begin, and the head entry does not issue. Return the next cycle in
  // which to try again.
  Cycle why_not_entered(Cycle now, const SequencerInputs& inputs, const BackEnd& back_end);
  Cycle why_not_issued(Cycle now, bool at_limit);
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
  // The doorbell that the next step waits for; 0 if it waits for none.
  [[nodiscard]] Cycle next_step_posted_at() const { return doorbells_.rings_at(timestep() + 1); }

  Spec spec_;
  LoadedTable table_;
  Doorbells doorbells_;
  std::size_t head_ = 0;
  std::uint64_t rows_passed_ = 0;
  Cycle head_read_at_ = 0;  // the memory has given the head entry; rows that do not issue take time
  std::unique_ptr<TableSequencer> sequencer_;
  Cycle step_entered_ = 0;  // first cycle in which an entry of the step may issue
  bool waits_for_ports_ = false;
  StallReason stall_ = StallReason::none;  // of the last evaluation
};

}  // namespace espalier
