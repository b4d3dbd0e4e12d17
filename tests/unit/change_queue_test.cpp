#include "sims/observe/waves/change_queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

using namespace espalier;

namespace {

using Line = std::tuple<Cycle, std::size_t, std::uint64_t>;

std::vector<Line> lines_of(const std::vector<WaveChange>& changes) {
  std::vector<Line> lines;
  for (const WaveChange& c : changes) lines.emplace_back(c.at, c.signal.index(), c.bits);
  return lines;
}

}  // namespace

TEST_CASE("Changes are taken by time, then signal, then the order in which they were found") {
  // Few are compared, many sorted by digits: of signals and times of one digit, and of several.
  const std::size_t count = GENERATE(0U, 1U, 255U, 256U, 5000U);
  const std::uint64_t signals = GENERATE(1U, 700U, 60'000U);
  const Cycle range = GENERATE(1U, 1000U, 1'000'000'000'000U);
  CAPTURE(count, signals, range);
  std::mt19937_64 random(7);
  ChangeQueue queue;
  std::vector<Line> expected;
  for (std::size_t c = 0; c < count; ++c) {
    const Cycle at = 5000 + random() % range;
    const std::size_t signal = random() % signals;
    queue.add({at, c, SignalId(signal), false});
    expected.emplace_back(at, signal, c);
  }
  std::sort(expected.begin(), expected.end());
  // In two halves: what is later waits.
  const Cycle middle = 5000 + range / 2;
  std::vector<Line> taken = lines_of(queue.take_before(middle));
  for (const Line& line : taken) CHECK(std::get<0>(line) < middle);
  for (const Line& line : lines_of(queue.take_before(kNever))) taken.push_back(line);
  CHECK((taken == expected));
  CHECK(queue.take_before(kNever).empty());
}
