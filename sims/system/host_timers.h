// When hosts want to be woken.
#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "hw/clock/clock_domain.h"
#include "hw/ids.h"

namespace espalier {

// Woken hosts are called in ascending rank.
class HostTimers : public Clocked {
 public:
  using Wake = std::function<void(RankId, Cycle)>;

  // During elaboration.
  HostTimers(ClockDomain& clock, Wake wake)
      : clock_(clock), id_(clock.add(*this)), wake_(std::move(wake)) {}

  // In cycle `at`, later than now.
  void add(RankId rank, Cycle at) {
    pending_.emplace(at, rank);
    if (at < armed_) arm(at);
  }
  void evaluate(Cycle now) override {
    if (pending_.empty() || pending_.top().first > now) return;
    armed_ = now;  // what is added meanwhile waits for the end of this
    while (!pending_.empty() && pending_.top().first <= now) {
      const RankId rank = pending_.top().second;
      pending_.pop();
      wake_(rank, now);
    }
    armed_ = kNever;
    if (!pending_.empty()) arm(pending_.top().first);
  }

 private:
  using Timer = std::pair<Cycle, RankId>;

  void arm(Cycle at) {
    armed_ = at;
    clock_.wake(id_, at);
  }

  ClockDomain& clock_;
  ClockedId id_;
  Wake wake_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> pending_;
  Cycle armed_ = kNever;  // the clock evaluates this then
};

}  // namespace espalier
