#include "ni/rtl/rtl_sequencer.h"

#include <RtlNiControl.h>
#include <RtlNiControl___024root.h>
#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "hw/clocked_verilog.h"

namespace espalier {

namespace {

// The Verilog sees a cycle at its first decision or rest. Its clock rises when the cycle is over.
class RtlSequencer : public TableSequencer, private RtlProbe {
 public:
  RtlSequencer(LockstepMode mode, std::uint32_t issue_per_cycle)
      : issue_per_cycle_(issue_per_cycle) {
    if (issue_per_cycle > kRtlIssuePerCycle) {
      throw std::invalid_argument(fmt::format(
          "ni_control.v issues up to {} entries in a cycle here, but the NI has {} ports",
          kRtlIssuePerCycle, issue_per_cycle));
    }
    // Encoding of the port `mode`.
    model_->mode = mode == LockstepMode::off        ? 0
                   : mode == LockstepMode::estimate ? 1
                   : mode == LockstepMode::drain    ? 2
                                                    : 3;
    model_.reset();
  }

  SequencerDecision decide(Cycle now, const SequencerInputs& inputs) override {
    if (entries_ == 0 || now != cycle_) {
      end_cycle();
      rest_until(now);
      show_head(inputs);
    } else {
      if (entries_ == issue_per_cycle_) throw std::logic_error("ni_control.v has no entry left");
      show_entry(inputs);
    }
    model_.low();
    const auto bit = static_cast<std::uint32_t>(1) << (entries_ - 1);
    SequencerDecision decision;
    decision.enters_step = entries_ == 1 && model_->enter_step != 0;
    decision.issues = (model_->issue & bit) != 0;
    timestep_ = model_->timestep;
    if (entries_ == 1 && model_->arms != 0) lockstep_until_ = now + inputs.step_time;
    return decision;
  }

  void rest(const SequencerInputs& inputs) override {
    end_cycle();
    at_rest_ = inputs;
  }
  [[nodiscard]] bool is_clocked() const override { return true; }
  [[nodiscard]] Timestep timestep() const override { return timestep_; }
  [[nodiscard]] Cycle lockstep_until() const override { return lockstep_until_; }
  [[nodiscard]] RtlProbe* rtl_probe() override { return this; }

 private:
  [[nodiscard]] const char* module() const override { return "ni_control"; }
  [[nodiscard]] std::vector<RtlSignal> signals() const override {
    const auto* registers = model_->rootp;
    return {
        {"timestep", 32, [this] { return model_->timestep; }},
        {"enter_step", 1, [this] { return model_->enter_step; }},
        {"issue", issue_per_cycle_, [this] { return model_->issue; }, RtlKind::mask},
        {"arms", 1, [this] { return model_->arms; }},
        {"lockstep", 32, [this] { return model_->lockstep; }, RtlKind::down_counter},
        {"step", 32, [registers] { return registers->ni_control__DOT__step; }},
        {"counter", 32, [registers] { return registers->ni_control__DOT__counter; },
         RtlKind::down_counter},
        {"armed", 1, [registers] { return registers->ni_control__DOT__armed; }},
    };
  }
  void catch_up(Cycle until) override {
    if (until > cycle_) rest_until(until);
  }

  void end_cycle() {
    if (entries_ == 0) return;
    settled(cycle_);
    model_.rise();
    ++cycle_;
    entries_ = 0;
  }

  // Clocks the cycles in which the NI rests. Registers that a clock has left as they were stay so.
  void rest_until(Cycle now) {
    if (now < cycle_) throw std::logic_error("ni_control.v has had this cycle");
    if (cycle_ == now) return;
    show_head(at_rest_);
    entries_ = 0;
    while (cycle_ < now) {
      model_.low();
      if (model_->enter_step != 0 || model_->issue != 0) {
        throw std::logic_error(
            fmt::format("ni_control.v decides in cycle {}, in which its NI rests", cycle_));
      }
      const bool counts = model_->lockstep != 0;
      settled(cycle_);
      model_.rise();
      cycle_ = counts ? cycle_ + 1 : now;
    }
  }

  void show_head(const SequencerInputs& inputs) {
    entries_ = 0;
    model_->valid = 0;
    model_->clear = 0;
    model_->room = 0;
    if (inputs.step_time > kRtlLongestStep) {
      throw std::invalid_argument(
          fmt::format("a timestep of {} cycles is longer than the lockstep counter of ni_control.v",
                      inputs.step_time));
    }
    model_->step_time = static_cast<std::uint32_t>(inputs.step_time);
    model_->posted = inputs.posted ? 1 : 0;
    model_->reduction_idle = inputs.reduction_idle ? 1 : 0;
    model_->all_sent = inputs.all_sent ? 1 : 0;
    show_entry(inputs);
  }
  void show_entry(const SequencerInputs& inputs) {
    const auto bit = static_cast<std::uint16_t>(1U << entries_);
    model_->entry_step[entries_] = inputs.step;
    if (inputs.valid) model_->valid |= bit;
    if (inputs.clear) model_->clear |= bit;
    if (inputs.room) model_->room |= bit;
    ++entries_;
  }

  std::uint32_t issue_per_cycle_;
  ClockedVerilog<RtlNiControl> model_;
  Cycle cycle_ = 0;            // that the registers belong to
  std::uint32_t entries_ = 0;  // that the present cycle has been asked for
  Timestep timestep_ = 0;
  Cycle lockstep_until_ = 0;
  SequencerInputs at_rest_;
};

}  // namespace

bool has_rtl() { return true; }

std::unique_ptr<TableSequencer> make_rtl_sequencer(LockstepMode mode,
                                                   std::uint32_t issue_per_cycle) {
  return std::make_unique<RtlSequencer>(mode, issue_per_cycle);
}

}  // namespace espalier
