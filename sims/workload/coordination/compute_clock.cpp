#include "sims/workload/coordination/compute_clock.h"

#include <algorithm>

namespace espalier {

void ComputeClock::change_speed(Cycle at, std::uint32_t speed) {
  const Piece& last = pieces_.back();
  pieces_.push_back({at, last.work + (at - last.begin) * last.speed, speed});
}

void ComputeClock::slow_down(Cycle at) {
  if (pieces_.size() > 1 && pieces_.back().begin >= at) {
    pieces_.pop_back();  // no time at full speed since the one before
  } else {
    change_speed(at, slow_speed_);
  }
}

void ComputeClock::posted(Cycle at) {
  if (slow_speed_ == kFullSpeed) return;
  if (under_way_.empty()) slow_down(at);
  under_way_.push_back(at);
}

void ComputeClock::done(Cycle at) {
  if (slow_speed_ == kFullSpeed) return;
  under_way_.erase(under_way_.begin());
  if (!under_way_.empty() && under_way_.front() <= at) return;
  change_speed(at, kFullSpeed);
  if (!under_way_.empty()) slow_down(under_way_.front());
}

Cycle ComputeClock::computed_by(Cycle now) const {
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), now,
                                [](Cycle at, const Piece& p) { return at < p.begin; });
  --piece;
  return (piece->work + (now - piece->begin) * piece->speed) / kFullSpeed;
}

Cycle ComputeClock::when_computed(Cycle computed) const {
  const std::uint64_t work = computed * kFullSpeed;
  auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), work,
                                [](const Piece& p, std::uint64_t w) { return p.work < w; });
  if (piece != pieces_.begin()) --piece;
  return piece->begin + (work - piece->work + piece->speed - 1) / piece->speed;
}

}  // namespace espalier
