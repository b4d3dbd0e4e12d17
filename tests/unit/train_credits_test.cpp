#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "flowctl/flit_run.h"
#include "flowctl/train/train_channel.h"

namespace espalier {
namespace {

TEST_CASE("A run's closed form counts the ticks that have passed") {
  for (Tick rate = 1; rate < 7; ++rate) {
    const FlitRun run{10, rate, 5};
    for (Tick tick = 0; tick < 60; ++tick) {
      std::uint64_t counted = 0;
      for (std::uint64_t i = 0; i < run.n; ++i) counted += run.tick_of(i) < tick ? 1U : 0U;
      REQUIRE(run.before(tick) == counted);
    }
  }
}

// The same books, credit by credit.
class PlainCredits {
 public:
  explicit PlainCredits(std::size_t depth) : seen_at_(depth, 0) {}
  void announce(const FlitRun& run) {
    for (std::uint64_t i = 0; i < run.n; ++i) seen_at_.push_back(run.tick_of(i));
  }
  void spend(std::size_t flits) {
    seen_at_.erase(seen_at_.begin(), seen_at_.begin() + static_cast<std::ptrdiff_t>(flits));
  }
  [[nodiscard]] Tick room_at(std::size_t flits) const {
    return flits == 0 ? 0 : flits <= seen_at_.size() ? seen_at_[flits - 1] : kNever;
  }

 private:
  std::vector<Tick> seen_at_;
};

TEST_CASE("Credits in runs tell the same as credits one by one") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::uint64_t depth = 1 + random() % 20;
    TrainCredits runs{depth, {}};
    PlainCredits plain(depth);
    Tick now = 0;
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t flits = 1; flits < 40; ++flits) {
        // What has been seen is counted as if it always had been.
        const Tick expected = plain.room_at(flits);
        REQUIRE((runs.room_at(flits) <= now) == (expected <= now));
        if (expected > now) REQUIRE(runs.room_at(flits) == expected);
      }
      std::uint64_t seen = 0;
      while (plain.room_at(seen + 1) <= now) ++seen;
      const std::uint64_t spent = seen == 0 ? 0 : random() % (seen + 1);
      runs.spend(spent);
      plain.spend(spent);
      if (runs.coming.before(now + 1) == runs.coming.n && random() % 2 == 0) {
        const FlitRun next{now + 1 + random() % 5, 1 + random() % 3, 1 + random() % 9};
        runs.counted += runs.coming.n;
        runs.coming = next;
        plain.announce(next);
      }
      now += random() % 12;
    }
  }
}

}  // namespace
}  // namespace espalier
