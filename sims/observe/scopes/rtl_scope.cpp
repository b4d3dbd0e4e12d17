#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sims/observe/scopes/wave_scopes.h"

namespace espalier {

namespace {

GtkwDisplay display_of(RtlKind kind) {
  if (kind == RtlKind::down_counter) return GtkwDisplay::analog_step;
  return kind == RtlKind::mask ? GtkwDisplay::binary : GtkwDisplay::decimal;
}

// Whether a value of a down-counter is shown. Between its load and its end a counter has at most
// kCounterStairs values in a waveform, so the cost does not depend on the cycles that it counts.
class CounterStairs {
 public:
  // The counter's values, one for each cycle in which it counts.
  [[nodiscard]] bool shows(std::uint64_t value) {
    const bool counts = value + 1 == last_;
    if (!counts) {
      stair_ = 1;
      while (stair_ * kCounterStairs < value) stair_ *= 2;
    }
    last_ = value;
    // A counter stops at 0, or at 1.
    return !counts || value <= 1 || value % stair_ == 0;
  }

 private:
  static constexpr std::uint64_t kCounterStairs = 8;

  std::uint64_t last_ = 0;
  std::uint64_t stair_ = 1;  // a power of 2
};

class RtlScope : public WaveScope, public RtlWatcher {
 public:
  RtlScope(const RtlPlace& place, WaveRecorder& recorder, bool every_count)
      : probe_(place.probe), recorder_(recorder) {
    const std::string scope = place.scope + place.between + probe_->module();
    if (!recorder.may_want(scope)) return;
    for (RtlSignal& signal : probe_->signals()) {
      const SignalId shown =
          recorder.add(scope + "." + signal.name, signal.bits, nullptr, display_of(signal.kind));
      if (!shown.valid()) continue;
      const bool in_stairs = signal.kind == RtlKind::down_counter && !every_count;
      signals_.push_back({shown, std::move(signal.read), in_stairs, {}});
    }
    if (signals_.empty()) return;
    recorder.describe_scope(scope, probe_->module());
    probe_->watch(*this);
    settled(0);
  }

  [[nodiscard]] bool is_wanted() const { return !signals_.empty(); }
  void generate(Cycle, Cycle until) override { probe_->catch_up(until); }
  void settled(Cycle now) override {
    for (Shown& shown : signals_) {
      const std::uint64_t value = shown.read();
      if (!shown.in_stairs || shown.stairs.shows(value)) recorder_.change(now, shown.signal, value);
    }
  }
  void stop() override { probe_->stop_watching(); }

 private:
  struct Shown {
    SignalId signal;
    std::function<std::uint64_t()> read;
    bool in_stairs;
    CounterStairs stairs;
  };

  RtlProbe* probe_;
  WaveRecorder& recorder_;
  std::vector<Shown> signals_;  // that the user has asked for
};

}  // namespace

std::unique_ptr<WaveScope> rtl_scope(const RtlPlace& place, WaveRecorder& recorder,
                                     bool every_count) {
  auto scope = std::make_unique<RtlScope>(place, recorder, every_count);
  return scope->is_wanted() ? std::move(scope) : nullptr;
}

}  // namespace espalier
