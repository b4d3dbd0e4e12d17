// A Verilog model that decides inside of the simulation, in a waveform.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "sims/observe/waves/wave_recorder.h"

namespace espalier {

// Whether a value of a down-counter is shown. Between its load and its end a counter has at most
// kCounterStairs values in a waveform, so the cost does not depend on the cycles that it counts.
class CounterStairs {
 public:
  // The counter's values, one for each cycle in which it counts.
  [[nodiscard]] bool shows(std::uint64_t value);

 private:
  static constexpr std::uint64_t kCounterStairs = 8;

  std::uint64_t last_ = 0;
  std::uint64_t stair_ = 1;  // a power of 2
};

class RtlScope : public RtlWatcher {
 public:
  // To be constructed before the simulation. `every_count`: down-counters are shown in every cycle.
  RtlScope(const RtlPlace& place, WaveRecorder& recorder, bool every_count);

  // Reports all changes before cycle `until`.
  void generate(Cycle until);
  void settled(Cycle now) override;
  // Ignores the model from now on.
  void stop() { probe_->stop_watching(); }

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

}  // namespace espalier
