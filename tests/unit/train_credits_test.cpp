#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <utility>
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

// One to five packets a period; a clock only with one.
FlitRun random_comb(std::mt19937& random, CombPool& combs, Tick start) {
  FlitRun run;
  run.rate = 1 + random() % 3;
  Comb comb;
  comb.packet = static_cast<std::uint32_t>(1 + random() % 5);
  const Tick length = comb.packet * run.rate;
  Tick offset = 0;
  for (auto others = random() % 5; others != 0; --others) {
    comb.others.push_back(offset += length + random() % 6);
  }
  if (comb.others.empty() && random() % 2 == 0) comb.clock = 1 + random() % 4;
  comb.stride = offset + length + comb.clock + random() % 6;
  run.start = start + comb.clock;
  run.n = 1 + random() % 12;
  run.comb = combs.get(std::move(comb));
  return run;
}

TEST_CASE("A run with gaps counts the ticks of its flits, also when some have passed") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    CombPool combs;
    FlitRun run = random_comb(random, combs, random() % 7);
    std::vector<Tick> ticks;
    for (std::uint64_t i = 0; i < run.n; ++i) ticks.push_back(run.tick_of(i));
    REQUIRE(std::is_sorted(ticks.begin(), ticks.end()));
    REQUIRE(std::adjacent_find(ticks.begin(), ticks.end()) == ticks.end());
    while (true) {
      REQUIRE(run.n == ticks.size());
      for (Tick tick = 0; tick < 150; ++tick) {
        const auto passed = std::lower_bound(ticks.begin(), ticks.end(), tick) - ticks.begin();
        REQUIRE(run.before(tick) == static_cast<std::uint64_t>(passed));
      }
      for (std::uint64_t i = 0; i < run.n; ++i) REQUIRE(run.tick_of(i) == ticks[i]);
      if (ticks.empty()) break;
      const std::uint64_t passed = 1 + random() % ticks.size();
      ticks.erase(ticks.begin(), ticks.begin() + static_cast<std::ptrdiff_t>(passed));
      run.drop(passed);
    }
  }
}

TEST_CASE("A run with gaps goes on with the packet that would be its next") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    CombPool combs;
    FlitRun run = random_comb(random, combs, 5);
    const std::uint64_t packet = run.comb->packet;
    run.n = (1 + random() % 7) * packet;
    FlitRun next = run;
    next.n += packet;
    next.drop(run.n);
    REQUIRE(next.n == packet);
    REQUIRE(run.goes_on_with(next));
    ++next.start;
    REQUIRE_FALSE(run.goes_on_with(next));
    --next.start;
    Comb other = *run.comb;
    ++other.stride;
    next.comb = combs.get(std::move(other));
    REQUIRE_FALSE(run.goes_on_with(next));
    next.comb = run.comb;
    next.phase = static_cast<std::uint32_t>((next.phase + packet) % run.comb->flits());
    REQUIRE(run.goes_on_with(next) == run.comb->others.empty());
  }
}

TEST_CASE("A run's line has the ticks of its flits, or else no flit is later than on it") {
  std::uint64_t exact = 0;
  std::uint64_t inexact = 0;
  for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    CombPool combs;
    FlitRun run = random_comb(random, combs, random() % 50);
    if (random() % 4 == 0) run.comb = nullptr;
    const std::uint64_t period = run.has_gaps() ? run.comb->flits() : 1;
    run.n = 100 * period;
    run.drop(random() % (2 * period));
    const std::uint64_t i = random() % (3 * period);
    const std::uint64_t flits = random() % 2 == 0 ? period * (1 + random() % 4) : 1 + random() % 20;
    CAPTURE(i, flits);
    const std::optional<TickLine> line = run.line_of(i, flits);
    // Whole periods, and packets at equal distances, always have one.
    REQUIRE(line.has_value() == (run.is_even() || flits % period == 0));
    if (!line) continue;
    ++(line->exact ? exact : inexact);
    for (std::uint64_t k = 0; k < 40; ++k) {
      const Tick tick = run.tick_of(i + k * flits);
      const Tick on_line = line->first + k * line->step;
      CAPTURE(k, tick, on_line);
      if (line->exact) {
        REQUIRE(on_line == tick);
      } else {
        REQUIRE(on_line >= tick);
      }
    }
  }
  CHECK(exact > 300);
  CHECK(inexact > 40);
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
    CombPool combs;
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
        const FlitRun plain_run{now + 1 + random() % 5, 1 + random() % 3, 1 + random() % 9};
        const FlitRun next = random() % 2 == 0 ? plain_run : random_comb(random, combs, now + 1);
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
