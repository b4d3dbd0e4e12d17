#include "sims/observe/scopes/rtl_scope.h"

#include <string>
#include <utility>

namespace espalier {

namespace {

GtkwDisplay display_of(RtlKind kind) {
  if (kind == RtlKind::down_counter) return GtkwDisplay::analog_step;
  return kind == RtlKind::mask ? GtkwDisplay::binary : GtkwDisplay::decimal;
}

}  // namespace

bool CounterStairs::shows(std::uint64_t value) {
  const bool counts = value + 1 == last_;
  if (!counts) {
    stair_ = 1;
    while (stair_ * kCounterStairs < value) stair_ *= 2;
  }
  last_ = value;
  // A counter stops at 0, or at 1.
  return !counts || value <= 1 || value % stair_ == 0;
}

RtlScope::RtlScope(const RtlPlace& place, WaveRecorder& recorder, bool every_count)
    : probe_(place.probe), recorder_(recorder) {
  const std::string scope = place.scope + ".rtl." + probe_->module();
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

void RtlScope::generate(Cycle until) {
  if (!signals_.empty()) probe_->catch_up(until);
}

void RtlScope::settled(Cycle now) {
  for (Shown& shown : signals_) {
    const std::uint64_t value = shown.read();
    if (!shown.in_stairs || shown.stairs.shows(value)) recorder_.change(now, shown.signal, value);
  }
}

}  // namespace espalier
