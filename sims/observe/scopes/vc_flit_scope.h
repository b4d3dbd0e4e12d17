// What changes with every flit of a VC: the flits in its buffer, the credits at its sender, the
// type of the flit in front. Its cost goes with the flits, so only a window is shown.
#pragma once

#include "sims/observe/record/run_queue.h"
#include "sims/observe/record/vc_arrivals.h"
#include "sims/observe/scopes/wave_recorder.h"

namespace espalier {

class VcFlitScope {
 public:
  struct Signals {
    WaveSignal occupancy;  // flits landed and not left
    WaveSignal credits;    // as the sender sees them
    WaveSignal type;  // of the flit in front (MultiTree, Table II); unknown where there is none
  };
  VcFlitScope(const Signals& signals, std::uint64_t depth, Cycle credit_latency,
              Tick ticks_per_cycle)
      : signals_(signals), credits_(depth), credit_latency_(credit_latency), q_(ticks_per_cycle) {}

  void arriving(const ArrivingRun& run, const FlitRun& sent);
  void arriving_cut(std::uint64_t n);
  void leaving(const FlitRun& run);
  void leaving_cut(std::uint64_t n);
  // As VcStateScope; nothing is told of cycles before `from`, but for what is there then.
  void generate(Cycle from, Cycle until, WaveRecorder& recorder);

 private:
  [[nodiscard]] Tick next_tick() const;
  // All flits and credits before `tick`.
  void take_before(Tick tick);
  void show(Cycle at, WaveRecorder& recorder);

  Signals signals_;
  std::uint64_t credits_;
  Cycle credit_latency_;
  Tick q_;
  std::uint64_t occupancy_ = 0;
  VcArrivals arrivals_;
  RunQueue sent_;
  RunQueue landing_;
  RunQueue leaving_;
  RunQueue returning_;
  bool is_shown_ = false;
};

}  // namespace espalier
