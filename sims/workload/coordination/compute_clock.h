// How far a rank's computing has come in an iteration, where its all-reduces slow it down: their
// kernels occupy processors and memory of the accelerator that computes.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

class ComputeClock {
 public:
  static constexpr std::uint32_t kFullSpeed = 1000;  // work done in a cycle

  // `lost_permille` of its speed is lost while an all-reduce is posted and not done; under 1000.
  explicit ComputeClock(std::uint32_t lost_permille) : slow_speed_(kFullSpeed - lost_permille) {}

  // Computing starts in cycle `at`. Precondition: no all-reduce is under way.
  void begin(Cycle at) { pieces_.assign(1, {at, 0, kFullSpeed}); }
  // An all-reduce is posted to the rank's stream; the one that was posted first and is not done is
  // done. Posts, and ends, come in the order of time; either may be said ahead of time.
  void posted(Cycle at);
  void done(Cycle at);

  // Cycles of undisturbed computing that are behind it in cycle `now`, not before the start.
  [[nodiscard]] Cycle computed_by(Cycle now) const;
  // The first cycle by which so much is behind it, as far as is known of all-reduces.
  [[nodiscard]] Cycle when_computed(Cycle computed) const;

 private:
  // From a cycle on, until the next piece.
  struct Piece {
    Cycle begin = 0;
    std::uint64_t work = 0;  // done by then
    std::uint32_t speed = kFullSpeed;
  };
  void change_speed(Cycle at, std::uint32_t speed);
  void slow_down(Cycle at);

  std::uint32_t slow_speed_;
  std::vector<Cycle> under_way_;  // when posted
  std::vector<Piece> pieces_{1};
};

}  // namespace espalier
