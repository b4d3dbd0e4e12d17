// The issue engine of the NI in the simulator of MultiTree's authors (NiRules): every entry of the
// present timestep that can go issues, in ascending flow.
#pragma once

#include <cstdint>
#include <vector>

#include "ni/engines/schedule_table_engine.h"

namespace espalier {

struct AuthorsRules {
  bool takes_any_port = true;  // NiRules::authors
  // The hosts post this step and all later ones as a collective of their own, when every message of
  // the steps before has arrived everywhere; 0: they post all steps at once.
  Timestep posted_step = 0;
};

class AuthorsTableEngine : public IssueEngine {
 public:
  // `spec`: it has no slot counter, and lockstep off or nop. `program` and the tables of `frame`
  // must outlive the engine.
  AuthorsTableEngine(const TableProgram& program, const NodeFrame& frame,
                     const ScheduleTableEngine::Spec& spec, const AuthorsRules& rules);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override {
    table_.sent(operation, now);
    return !done();
  }
  bool completed(const Operation& operation, Cycle now) override {
    table_.completed(operation, now);
    return !done();
  }
  [[nodiscard]] bool may_add(const Operation& operation) const override {
    return table_.may_add(operation);
  }
  [[nodiscard]] std::uint64_t decisions() const override { return issued_entries_; }
  [[nodiscard]] bool done() const override { return head_ == table_.size(); }
  [[nodiscard]] bool waits_for_ports() const override { return waits_for_ports_; }
  [[nodiscard]] bool timer_running(Cycle now) const override;
  void prepare_to_show() override { table_.prepare_to_show(); }
  void show(EngineView& view) const override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override {
    table_.explain(head_, timestep_, who, ni_names, waits);
  }

  // The hosts post AuthorsRules::posted_step: it may start in cycle `at`, later than now.
  void post(Cycle at) { posted_at_ = at; }

 private:
  Cycle stalled(StallReason reason, Cycle again) {
    stall_ = reason;
    return again;
  }
  // Entries from the head on that have not issued, in the head's step.
  template <class Visit>
  void for_each_candidate(Visit&& visit) const;
  // The candidate of the lowest flow that can go; size() of the table if none can.
  [[nodiscard]] std::size_t next_entry(Cycle now, const BackEnd& back_end) const;
  [[nodiscard]] bool has_room(std::size_t entry, const BackEnd& back_end) const;
  [[nodiscard]] bool step_begins(Cycle now, const BackEnd& back_end) const;
  void issue(std::size_t entry, Cycle now, BackEnd& back_end);
  // Why the next step does not begin, and no candidate issues. Return the next cycle in which to
  // try again.
  Cycle why_not_entered(Cycle now);
  Cycle why_none_issued(Cycle now);
  // The first cycle after `now` in which a candidate that misses no event is clear; kNever: none.
  [[nodiscard]] Cycle next_clear_at(Cycle now) const;
  // The doorbell that the next step waits for; 0 if it waits for none, kNever if nobody knows yet.
  [[nodiscard]] Cycle next_step_posted_at() const {
    const bool is_late = rules_.posted_step != 0 && rules_.posted_step == timestep_ + 1;
    return is_late ? posted_at_ : doorbells_.rings_at(timestep_ + 1);
  }

  LoadedTable table_;
  ScheduleTableEngine::Spec spec_;
  AuthorsRules rules_;
  Doorbells doorbells_;
  Cycle posted_at_ = kNever;  // of AuthorsRules::posted_step
  std::size_t head_ = 0;      // the first entry that has not issued
  std::vector<bool> issued_;  // by entry
  std::uint64_t issued_entries_ = 0;
  Timestep timestep_ = 0;
  Cycle lockstep_until_ = 0;
  // The last entry that issued was no NOP, and when it issued.
  bool has_sent_ = false;
  Cycle sent_at_ = 0;
  bool waits_for_ports_ = false;
  StallReason stall_ = StallReason::none;  // of the last evaluation
};

}  // namespace espalier
