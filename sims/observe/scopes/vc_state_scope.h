// A VC's state, flow and grant over time, from the runs that pass it: changes where packets come,
// wait and go, whatever the number of flits.
#pragma once

#include <string>

#include "sims/observe/record/run_queue.h"
#include "sims/observe/record/vc_arrivals.h"
#include "sims/observe/scopes/wave_recorder.h"

namespace espalier {

// idle: no flit has landed. routing: the first one is in the router's pipeline. waiting: it could
// leave but for the switch, an output VC or credits. active: its packet has the switch, from its
// first flit's leaving to its last one's.
enum class VcState : std::uint8_t { idle, routing, waiting, active };

class VcStateScope {
 public:
  struct Signals {
    WaveSignal state;
    WaveSignal flow;   // of the first flit; unknown where there is none
    WaveSignal grant;  // output port of the packet that has the switch; unknown otherwise
  };
  // `pipeline`: cycles from landing to the earliest leaving.
  VcStateScope(const Signals& signals, Cycle pipeline, Tick ticks_per_cycle)
      : signals_(signals), pipeline_(pipeline), q_(ticks_per_cycle) {}

  void arriving(const ArrivingRun& run) { arrivals_.add(run); }
  void arriving_cut(std::uint64_t n) { arrivals_.cut(n); }
  void leaving(const FlitRun& run) { leaving_.add(run); }
  void leaving_cut(std::uint64_t n) { leaving_.cut(n); }
  // Tells of all changes before cycle `until`: what was told of flits up to there is final.
  void generate(Cycle until, WaveRecorder& recorder);

 private:
  void settle(Cycle until, WaveRecorder& recorder);
  void leave(Cycle until, WaveRecorder& recorder);
  void enter(Cycle at, VcState state, WaveRecorder& recorder);
  [[nodiscard]] Cycle cycle_of(Tick tick) const { return tick / q_; }

  Signals signals_;
  Cycle pipeline_;
  Tick q_;
  VcArrivals arrivals_;
  RunQueue leaving_;
  bool inside_packet_ = false;
  Cycle settled_ = 0;  // the state is known up to here
  // Shown last.
  VcState state_ = VcState::idle;
  std::uint64_t flow_ = 0;
  std::uint32_t out_port_ = 0;
  bool is_shown_ = false;
};

}  // namespace espalier
