#include "sims/observe/scopes/link_scope.h"

#include <algorithm>

#include "sims/observe/record/cut_runs.h"

namespace espalier {

void LinkScope::sent(std::uint64_t flow, const FlitRun& run) {
  if (!runs_.empty()) {
    FlitRun& last = runs_.back().flits;
    const bool goes_on =
        runs_.back().flow == flow && last.rate == run.rate && last.tick_of(last.n) == run.start;
    if (goes_on) {
      last.n += run.n;
      return;
    }
  }
  runs_.push_back({flow, run});
}

void LinkScope::cut(std::uint64_t n) {
  cut_runs(runs_, n, [](Run& run) -> FlitRun& { return run.flits; });
}

void LinkScope::generate(Cycle until, WaveRecorder& recorder) {
  const auto set_free = [&](Cycle at) {
    is_busy_ = false;
    recorder.change(at, signals_.valid, 0);
    recorder.change_to_unknown(at, signals_.flow);
  };
  if (!is_shown_) {
    is_shown_ = true;
    set_free(0);
  }
  while (!runs_.empty() && runs_.front().flits.start < until * q_) {
    FlitRun& run = runs_.front().flits;
    const std::uint64_t n = run.before(until * q_);
    const Cycle first = run.start / q_;
    if (is_busy_ && busy_until_ < first) set_free(busy_until_);
    if (!is_busy_ || shown_flow_ != runs_.front().flow) {
      is_busy_ = true;
      shown_flow_ = runs_.front().flow;
      recorder.change(first, signals_.valid, 1);
      recorder.change(first, signals_.flow, shown_flow_);
    }
    // To the end of the last flit's time on the wire.
    busy_until_ = std::max(run.tick_of(n - 1) / q_ + 1, (run.tick_of(n) + q_ - 1) / q_);
    run.start = run.tick_of(n);
    run.n -= n;
    if (run.n == 0) runs_.pop_front();
  }
  if (is_busy_ && busy_until_ < until) set_free(busy_until_);
}

}  // namespace espalier
