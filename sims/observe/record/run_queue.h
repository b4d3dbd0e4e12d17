// Flits that leave a buffer, or credits that come back for them, first ones first.
#pragma once

#include <deque>

#include "flowctl/flit_run.h"
#include "sims/observe/record/cut_runs.h"

namespace espalier {

class RunQueue {
 public:
  void add(const FlitRun& run) {
    if (!runs_.empty()) {
      FlitRun& last = runs_.back();
      if (last.rate == run.rate && last.tick_of(last.n) == run.start) {
        last.n += run.n;
        return;
      }
    }
    runs_.push_back(run);
  }
  // The last `n` do not come.
  void cut(std::uint64_t n) {
    cut_runs(runs_, n, [](FlitRun& run) -> FlitRun& { return run; });
  }
  // Tick of the next one; kNever if there is none.
  [[nodiscard]] Tick next() const { return runs_.empty() ? kNever : runs_.front().start; }
  // Precondition: not empty.
  [[nodiscard]] const FlitRun& front() const { return runs_.front(); }
  void take(std::uint64_t n) {
    FlitRun& first = runs_.front();
    first.start += n * first.rate;
    first.n -= n;
    if (first.n == 0) runs_.pop_front();
  }
  // Takes all before `tick`; how many they were.
  std::uint64_t take_before(Tick tick) {
    std::uint64_t taken = 0;
    while (!runs_.empty() && runs_.front().start < tick) {
      const std::uint64_t n = runs_.front().before(tick);
      taken += n;
      take(n);
    }
    return taken;
  }

 private:
  std::deque<FlitRun> runs_;
};

}  // namespace espalier
