// What the issue engines of schedule tables share, whichever entry they issue next.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ni/engine_view.h"
#include "ni/engines/dependency_state.h"
#include "ni/engines/engine_observer.h"
#include "ni/engines/table_program.h"
#include "ni/engines/table_sequencer.h"
#include "ni/issue_engine.h"
#include "ni/modes.h"

namespace espalier {

class TableEngine : public IssueEngine {
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
    // Frequency of the slot counter's clock; 0: there is no counter, and slots are ignored.
    std::uint64_t slot_clock_hertz = 0;
    MakeSequencer sequencer = make_sequencer;
    MakeDependencies dependencies = make_dependencies;
  };

  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  // True if the flows that the Reduce's entry comes after are complete.
  [[nodiscard]] bool may_add(const Operation& operation) const override;
  [[nodiscard]] bool done() const override { return head_ == program_.entries.size(); }
  [[nodiscard]] bool waits_for_ports() const override { return waits_for_ports_; }
  void prepare_to_show() override;
  void show(EngineView& view) const override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

  // `event`, in the table's names, has happened. Entries that wait for it may issue from cycle now
  // + 1 on.
  void clear(const TableEvent& event, Cycle now);
  [[nodiscard]] std::size_t head() const { return head_; }
  [[nodiscard]] virtual Timestep timestep() const = 0;
  // The down-counter holds the step before this cycle.
  [[nodiscard]] virtual Cycle lockstep_until() const = 0;
  // The events, in the table's names, that the head entry still waits for.
  [[nodiscard]] std::vector<TableEvent> head_waits_for() const;

 protected:
  // `program` and the tables of `frame` must outlive the engine.
  TableEngine(const TableProgram& program, const NodeFrame& frame, const Spec& spec);

  Cycle stalled(StallReason reason, Cycle again) {
    stall_ = reason;
    return again;
  }
  // The injection queues have room for all sends of the entry.
  [[nodiscard]] bool has_room(const ProgramEntry& entry, const BackEnd& back_end) const;
  void issue(const ProgramEntry& entry, Cycle now, BackEnd& back_end) const;
  [[nodiscard]] bool is_observed() const { return !observers_.empty(); }
  // Entry `index` has issued. `why`: what let it issue, if its events came before.
  void tell_of_issue(std::size_t index, Release why, Cycle now);
  // The doorbell that the next step waits for; 0 if it waits for none.
  [[nodiscard]] Cycle next_release_at() const {
    const bool waits = next_release_ < spec_.releases.size() &&
                       spec_.releases[next_release_].step == timestep() + 1;
    return waits ? spec_.releases[next_release_].at : 0;
  }
  // The timestep counter has moved on. `is_posted`: because the hosts posted the step now.
  void enter_step(bool is_posted, Cycle now, const BackEnd& back_end);

  const TableProgram& program_;
  NodeFrame frame_;  // between the table and the rest of the NI
  const Spec spec_;
  std::unique_ptr<DependencyState> dependencies_;
  std::size_t head_ = 0;    // the first entry that has not issued
  Cycle step_entered_ = 0;  // first cycle in which an entry of the step may issue
  bool waits_for_ports_ = false;
  bool waited_for_ports_ = false;          // after the evaluation before this one
  StallReason stall_ = StallReason::none;  // of the last evaluation

 private:
  // After an event: whether evaluate() has something to do in the next cycle.
  [[nodiscard]] virtual bool may_issue() const = 0;

  void tell_of_step(Release why, Cycle now, const BackEnd& back_end);

  std::size_t next_release_ = 0;
  // For observers: the entry that issued last; the entry that loaded the down-counter, and when it
  // runs out.
  std::uint32_t issued_last_ = kNoEntry;
  std::uint32_t loader_ = kNoEntry;
  Cycle counted_until_ = kNever;
  std::vector<std::vector<std::uint32_t>> waiters_of_entry_;  // filled only for show()
};

}  // namespace espalier
