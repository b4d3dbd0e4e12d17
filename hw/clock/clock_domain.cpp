#include "hw/clock/clock_domain.h"

#include <stdexcept>
#include <utility>

namespace espalier {

void prepare_kernel() {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
}

ClockDomain::ClockDomain(sc_core::sc_module_name module_name, const sc_core::sc_time& period,
                         bool always_clocked, CycleSource source)
    : sc_module(module_name), period_(period), always_clocked_(always_clocked), active_(kSlots, 0) {
  constexpr double kFemtosecond = 1e-15;
  if (sc_core::sc_get_time_resolution().to_seconds() > 1.5 * kFemtosecond) {
    throw std::invalid_argument(
        "the kernel does not count femtoseconds; call prepare_kernel() first");
  }
  if (source == CycleSource::module) return;
  SC_HAS_PROCESS(ClockDomain);
  SC_METHOD(tick);
  sensitive << edge_;
}

ClockedId ClockDomain::add(Clocked& module) {
  sc_assert(!started_);
  const ClockedId id(modules_.size());
  modules_.push_back(&module);
  const std::size_t words = modules_.size() / 64 + 1;
  if (words != words_) {
    // Before reset, the wheel can hold only wake-ups.
    std::vector<std::uint64_t> wider(kSlots * words, 0);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      for (std::size_t w = 0; w < words_; ++w) wider[slot * words + w] = active_[slot * words_ + w];
    }
    active_ = std::move(wider);
    words_ = words;
  }
  return id;
}

void ClockDomain::start_of_simulation() { started_ = true; }

void ClockDomain::tick() {
  armed_ = 0;
  if (stopped_) return;
  run_cycle(sc_core::sc_time_stamp().value() / period_.value());
  if (!stopped_) arm(always_clocked_ || runs_every_cycle_ ? now_ + 1 : next_cycle());
}

void ClockDomain::run_cycle(Cycle now) {
  now_ = now;
  while (!far_.empty() && far_.top().at - now_ < kSlots) {
    const FarWake wake_up = far_.top();
    far_.pop();
    set_active(wake_up.at % kSlots, wake_up.module);
  }
  if (arrivals_ != nullptr) arrivals_->deliver(now_);
  evaluate_active(now_ % kSlots);
}

void ClockDomain::arm(Cycle at) {
  armed_ = at;
  time_is_up_ = at != kNever && at > last_cycle();
  if (at == kNever || time_is_up_) return;
  edge_.notify(time_of(at) - sc_core::sc_time_stamp());
}

bool ClockDomain::is_alone() {
  edge_.cancel();
  const bool others = sc_core::sc_pending_activity();
  if (!stopped_ && armed_ != 0) arm(armed_);
  return !others;
}

void ClockDomain::evaluate_active(std::size_t slot) {
  occupied_.clear(slot);
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t bits = std::exchange(active_[slot * words_ + w], 0);
    if (always_clocked_) {
      const std::size_t in_word =
          std::min<std::size_t>(64, modules_.size() - std::min(w * 64, modules_.size()));
      bits = in_word == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << in_word) - 1;
    }
    while (bits != 0) {
      const auto bit = static_cast<std::size_t>(__builtin_ctzll(bits));
      bits &= bits - 1;
      ++evaluations_;
      modules_[w * 64 + bit]->evaluate(now_);
    }
  }
}

Cycle ClockDomain::next_occupied() const {
  // The search begins at the slot after now. Wake-ups in the heap were beyond the wheel's range
  // when they were requested, but may be within it by now.
  const Cycle far = far_.empty() ? kNever : far_.top().at;
  const std::size_t distance = occupied_.next(now_, started_ ? 1 : 0);
  return distance == kSlots ? far : std::min(far, now_ + distance);
}

}  // namespace espalier
