// One clock: the modules that it wakes, and the order of events within a cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <systemc>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// The set of occupied slots of a timing wheel, which covers the cycles from the present one to
// kSlots - 1 ahead. Cycle c has slot c % kSlots.
class SlotRing {
 public:
  static constexpr std::size_t kSlots = 1024;

  void set(std::size_t slot) { words_[slot / 64] |= bit(slot); }
  void clear(std::size_t slot) { words_[slot / 64] &= ~bit(slot); }
  // Distance from slot `base` to the first occupied slot at a distance of at least `first`; kSlots
  // if no slot is occupied.
  [[nodiscard]] std::size_t next(std::uint64_t base, std::size_t first) const {
    for (std::size_t distance = first; distance < kSlots;) {
      const std::size_t slot = (base + distance) % kSlots;
      const std::uint64_t word = words_[slot / 64] >> (slot % 64);
      if (word != 0) {
        const auto skip = static_cast<std::size_t>(__builtin_ctzll(word));
        return distance + skip < kSlots ? distance + skip : kSlots;
      }
      distance += 64 - slot % 64;
    }
    return kSlots;
  }

 private:
  static constexpr std::uint64_t bit(std::size_t slot) { return std::uint64_t{1} << (slot % 64); }
  std::array<std::uint64_t, kSlots / 64> words_{};
};

// A module that decides on clock edges. Contract: evaluate(now) reads only state that other modules
// wrote in earlier cycles, and writes only state that other modules read in later cycles, so the
// order of evaluation within a cycle does not matter. An evaluation with nothing to do changes no
// state, so a module may sleep through it.
// To be called first in sc_main, before any sc_time exists. The kernel counts femtoseconds, because
// a router clock's period need not be a whole number of picoseconds. Modules that it would rename
// are errors, because names are an interface.
void prepare_kernel();

class Clocked {
 public:
  virtual ~Clocked() = default;
  virtual void evaluate(Cycle now) = 0;
};

using ClockedId = Id<struct ClockedTag>;

// A source of events that reach modules at the start of a cycle, before any module decides.
class ArrivalSource {
 public:
  virtual ~ArrivalSource() = default;
  // The next cycle in which something arrives; kNever if nothing is in flight.
  [[nodiscard]] virtual Cycle next_arrival() const = 0;
  // Delivers the arrivals of cycle `now`; modules that must react in this cycle call wake_now().
  virtual void deliver(Cycle now) = 0;
};

// Who starts the cycles of a domain.
enum class CycleSource : std::uint8_t {
  kernel,  // the domain itself: cycle n is at time n * period
  module   // the module that owns the domain: it calls run_cycle()
};

// In each cycle the domain first delivers arrivals, then evaluates the modules that asked for it,
// in ascending id. With `always_clocked`, it evaluates all modules; tests compare sleeping modules
// with this reference. One SC_METHOD serves the whole domain and sleeps through empty cycles. Other
// SystemC processes may wake modules at any time, also between two clock edges.
class ClockDomain : public sc_core::sc_module {
 public:
  ClockDomain(sc_core::sc_module_name module_name, const sc_core::sc_time& period,
              bool always_clocked, CycleSource source = CycleSource::kernel);

  // During elaboration only. The module must outlive the domain.
  ClockedId add(Clocked& module);

  // During elaboration only, at most once. The source must outlive the domain's last cycle.
  void connect_arrivals(ArrivalSource& source) { arrivals_ = &source; }

  // Before the simulation: modules outside of this domain may wake its modules between two cycles,
  // so the domain has a cycle in every period, and is never idle.
  void run_every_cycle() { runs_every_cycle_ = true; }
  // CycleSource::module: cycle `now`, which is later than the one before.
  void run_cycle(Cycle now);

  // Evaluates `module` in cycle `at`, which must lie in the future. Before the simulation starts,
  // `at` may be any cycle.
  void wake(ClockedId module, Cycle at) {
    sc_assert(at > now_ || !started_);
    if (at - now_ < kSlots) {
      set_active(at % kSlots, module);
    } else if (!always_clocked_) {
      far_.push({at, module});
    } else if (far_.empty() || far_.top().at < at) {
      // Every module runs in every cycle and asks anew: only whether something is to come counts.
      far_ = {};
      far_.push({at, module});
    }
    if (at < armed_) arm(at);
  }
  // To be called during the delivery of arrivals: evaluates `module` in the current cycle.
  void wake_now(ClockedId module) { set_active(now_ % kSlots, module); }

  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] const sc_core::sc_time& period() const { return period_; }
  // True if no module will be evaluated again.
  [[nodiscard]] bool idle() const { return !runs_every_cycle_ && next_cycle() == kNever; }
  // The last cycle that the simulation kernel's 64-bit time can hold.
  [[nodiscard]] Cycle last_cycle() const { return ~std::uint64_t{0} / period_.value() - 1; }
  // True if the next event lies beyond last_cycle(): the clock has stopped for good.
  [[nodiscard]] bool time_is_up() const { return time_is_up_; }
  // The first clock edge later than `time`: what another process does at a clock edge counts for
  // the next one, whichever of the two the kernel runs first.
  [[nodiscard]] Cycle edge_after(const sc_core::sc_time& time) const {
    return time.value() / period_.value() + 1;
  }
  [[nodiscard]] sc_core::sc_time time_of(Cycle cycle) const {
    return sc_core::sc_time::from_value(period_.value() * cycle);
  }
  // True if this clock's events are the only ones in the kernel. Call it while the kernel pauses.
  [[nodiscard]] bool is_alone();
  // Stops the clock after the current cycle, and pauses the kernel.
  void stop() {
    stopped_ = true;
    if (sc_core::sc_get_status() == sc_core::SC_RUNNING) sc_core::sc_pause();
  }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool always_clocked() const { return always_clocked_; }
  // Evaluations so far: a measure of the simulation's cost.
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }

 private:
  struct FarWake {
    Cycle at;
    ClockedId module;
    friend bool operator>(const FarWake& a, const FarWake& b) {
      return a.at != b.at ? a.at > b.at : a.module > b.module;
    }
  };
  // Wake-ups up to kSlots - 1 cycles ahead cost one bit in a timing wheel. Later wake-ups wait in a
  // heap.
  static constexpr std::size_t kSlots = SlotRing::kSlots;

  void set_active(std::size_t slot, ClockedId module) {
    active_[slot * words_ + module.index() / 64] |= std::uint64_t{1} << (module.index() % 64);
    occupied_.set(slot);
  }
  void tick();
  // The next tick is in cycle `at`; none if it is kNever.
  void arm(Cycle at);
  void start_of_simulation() override;
  void evaluate_active(std::size_t slot);
  [[nodiscard]] Cycle next_occupied() const;
  [[nodiscard]] Cycle next_cycle() const {
    const Cycle arrival = arrivals_ == nullptr ? kNever : arrivals_->next_arrival();
    return std::min(arrival, next_occupied());
  }

  sc_core::sc_time period_;
  bool always_clocked_;
  bool runs_every_cycle_ = false;
  bool started_ = false;
  bool stopped_ = false;
  bool time_is_up_ = false;
  Cycle now_ = 0;
  sc_core::sc_event edge_;  // starts tick()
  // The cycle of the next tick; 0 during a tick, which arms the clock at its end, and when the
  // clock does not run.
  Cycle armed_ = 0;
  std::uint64_t evaluations_ = 0;
  std::vector<Clocked*> modules_;
  ArrivalSource* arrivals_ = nullptr;
  std::size_t words_ = 1;              // 64-bit words per slot
  std::vector<std::uint64_t> active_;  // [slot][word]: one bit per module
  SlotRing occupied_;                  // slots in which some module is active
  std::priority_queue<FarWake, std::vector<FarWake>, std::greater<>> far_;
};

}  // namespace espalier
