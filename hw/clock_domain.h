// One clock, an active set, and the order of things within a cycle.
#pragma once

#include <queue>
#include <systemc>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// A module that takes decisions on clock edges. Contract: evaluate(now) reads only what other
// modules wrote in earlier cycles and writes only what they see in later ones, so the order of
// evaluation within a cycle cannot matter; and an evaluation with nothing to do changes nothing, so
// sleeping cannot matter either.
class Clocked {
 public:
  virtual ~Clocked() = default;
  virtual void evaluate(Cycle now) = 0;
};

using ClockedId = Id<struct ClockedTag>;

// Evaluates in each cycle the modules that asked for it (or all of them: `always_clocked`, the
// reference that sleeping is tested against), in ascending id. One SC_METHOD serves the whole
// domain and sleeps over empty cycles.
class ClockDomain : public sc_core::sc_module {
 public:
  ClockDomain(sc_core::sc_module_name module_name, const sc_core::sc_time& period,
              bool always_clocked);

  // During elaboration only. The module must outlive the domain.
  ClockedId add(Clocked& module);

  // `module` is evaluated in cycle `at`, which must lie in the future (before the simulation
  // starts: any cycle).
  void wake(ClockedId module, Cycle at) {
    sc_assert(at > now_ || !started_);
    if (at - now_ < kSlots) {
      const std::size_t slot = at % kSlots;
      active_[slot * words_ + module.index() / 64] |= std::uint64_t{1} << (module.index() % 64);
      occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    } else {
      far_.push({at, module});
    }
  }

  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] const sc_core::sc_time& period() const { return period_; }
  // Nobody will ever be evaluated again.
  [[nodiscard]] bool idle() const { return next_occupied() == kNever; }
  // Stops the clock after the current cycle.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Evaluations so far: what the run cost.
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }

 private:
  struct FarWake {
    Cycle at;
    ClockedId module;
    friend bool operator>(const FarWake& a, const FarWake& b) {
      return a.at != b.at ? a.at > b.at : a.module > b.module;
    }
  };
  // Wake-ups up to kSlots - 1 cycles ahead cost one bit in a timing wheel; farther ones wait in a
  // heap.
  static constexpr std::size_t kSlots = 1024;

  void tick();
  void start_of_simulation() override;
  void evaluate_active(std::size_t slot);
  [[nodiscard]] Cycle next_occupied() const;

  sc_core::sc_time period_;
  bool always_clocked_;
  bool started_ = false;
  bool stopped_ = false;
  Cycle now_ = 0;
  std::uint64_t evaluations_ = 0;
  std::vector<Clocked*> modules_;
  std::size_t words_ = 1;                // 64-bit words per slot
  std::vector<std::uint64_t> active_;    // [slot][word]: one bit per module
  std::vector<std::uint64_t> occupied_;  // one bit per slot: some module is active in it
  std::priority_queue<FarWake, std::vector<FarWake>, std::greater<>> far_;
};

}  // namespace espalier
