#include "ni/engines/table_sequencer.h"

namespace espalier {

namespace {

class CountingSequencer : public TableSequencer {
 public:
  explicit CountingSequencer(LockstepMode mode) : mode_(mode) {}

  SequencerDecision decide(Cycle now, const SequencerInputs& in) override {
    SequencerDecision decision;
    if (!in.valid) return decision;
    if (in.step != timestep_ && in.posted && step_ends(now, in)) {
      decision.enters_step = true;
      ++timestep_;
      counter_loaded_ = false;
    }
    decision.issues = in.step == timestep_ && in.clear && in.room;
    if (decision.issues) load_counter(now, in);
    return decision;
  }
  void rest(const SequencerInputs& /*inputs*/) override {}
  [[nodiscard]] bool is_clocked() const override { return false; }
  [[nodiscard]] Timestep timestep() const override { return timestep_; }
  [[nodiscard]] Cycle lockstep_until() const override { return lockstep_until_; }

 private:
  // Before the first step there is nothing to wait for but the host.
  [[nodiscard]] bool step_ends(Cycle now, const SequencerInputs& in) const {
    if (timestep_ == 0 || mode_ == LockstepMode::off) return true;
    if (lockstep_until_ > now) return false;
    return in.reduction_idle && (mode_ != LockstepMode::drain || in.all_sent);
  }

  // The entry issues.
  void load_counter(Cycle now, const SequencerInputs& in) {
    if (counter_loaded_) return;
    counter_loaded_ = true;
    const bool counts = mode_ == LockstepMode::estimate || mode_ == LockstepMode::full;
    lockstep_until_ = now + (counts ? in.step_time : 0);
  }

  LockstepMode mode_;
  Timestep timestep_ = 0;
  Cycle lockstep_until_ = 0;
  bool counter_loaded_ = true;  // for the present step
};

}  // namespace

std::unique_ptr<TableSequencer> make_sequencer(LockstepMode mode,
                                               std::uint32_t /*issue_per_cycle*/) {
  return std::make_unique<CountingSequencer>(mode);
}

}  // namespace espalier
