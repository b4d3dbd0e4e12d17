// The issue engine of the NI in the simulator of MultiTree's authors (NiRules): every entry of the
// present timestep that can go issues, in ascending flow.
#pragma once

#include <optional>
#include <vector>

#include "ni/engines/table_engine.h"

namespace espalier {

struct AuthorsRules {
  bool takes_any_port = true;  // NiRules::authors
  // The hosts post this step and all later ones as a collective of their own, when every message of
  // the steps before has arrived everywhere; 0: they post all steps at once.
  Timestep posted_step = 0;
};

class AuthorsTableEngine : public TableEngine {
 public:
  // `spec`: lockstep is off or nop. Throws std::invalid_argument if entries wait for slots.
  AuthorsTableEngine(const TableProgram& program, const NodeFrame& frame, const Spec& spec,
                     const AuthorsRules& rules);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  [[nodiscard]] std::uint64_t decisions() const override { return issued_entries_; }
  [[nodiscard]] bool timer_running(Cycle now) const override;
  [[nodiscard]] Timestep timestep() const override { return timestep_; }
  [[nodiscard]] Cycle lockstep_until() const override { return lockstep_until_; }
  // The hosts post AuthorsRules::posted_step: it may start in cycle `at`, later than now.
  void post(Cycle at) { posted_at_ = at; }

 private:
  [[nodiscard]] bool may_issue() const override { return true; }
  // Entries of the head's step that have not issued.
  template <class Visit>
  void for_each_candidate(Visit&& visit) const;
  // The candidate of the lowest flow that can go; nullopt if none can.
  [[nodiscard]] std::optional<std::size_t> next_entry(Cycle now, const BackEnd& back_end) const;
  void issue_entry(std::size_t index, Cycle now, BackEnd& back_end);
  // Returns the next cycle in which to try again.
  Cycle why_none_issued(Cycle now);
  // The first cycle after `now` in which a candidate that misses no event is clear; kNever: none.
  [[nodiscard]] Cycle next_clear_at(Cycle now) const;
  // The doorbell that the next step waits for; 0 if it waits for none, kNever if nobody knows yet.
  [[nodiscard]] Cycle next_post_at() const {
    const bool is_late = rules_.posted_step != 0 && rules_.posted_step == timestep_ + 1;
    return is_late ? posted_at_ : next_release_at();
  }

  AuthorsRules rules_;
  std::vector<bool> issued_;  // by entry
  std::uint64_t issued_entries_ = 0;
  Timestep timestep_ = 0;
  Cycle lockstep_until_ = 0;
  Cycle posted_at_ = kNever;  // of AuthorsRules::posted_step
  // The last entry that issued was no NOP, and when it issued.
  bool has_sent_ = false;
  Cycle sent_at_ = 0;
};

}  // namespace espalier
