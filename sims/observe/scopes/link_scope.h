// Whether a link's wire carries a flit, and of which flow.
#pragma once

#include <deque>

#include "flowctl/flit_run.h"
#include "sims/observe/scopes/wave_recorder.h"

namespace espalier {

// A flit occupies the wire for as long as the link takes to send one: at least a cycle.
class LinkScope {
 public:
  struct Signals {
    WaveSignal valid;
    WaveSignal flow;  // unknown where the wire is free
  };
  LinkScope(const Signals& signals, Tick ticks_per_cycle)
      : signals_(signals), q_(ticks_per_cycle) {}

  void sent(std::uint64_t flow, const FlitRun& run);
  void cut(std::uint64_t n);
  // As VcStateScope.
  void generate(Cycle until, WaveRecorder& recorder);

 private:
  struct Run {
    std::uint64_t flow;
    FlitRun flits;
  };
  Signals signals_;
  Tick q_;
  std::deque<Run> runs_;
  std::uint64_t shown_flow_ = 0;
  Cycle busy_until_ = 0;
  bool is_busy_ = false;
  bool is_shown_ = false;
};

}  // namespace espalier
