#include "flowctl/train/start_pattern.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

constexpr std::uint32_t kPacket = 2;  // flits
constexpr Tick kRate = 5;
constexpr Tick kSeamless = kPacket * kRate;

// Packets of one message: notes their starts, and tells how they go on.
class Sender {
 public:
  void start_after(Tick distance) { pattern_.note(last_ += distance); }
  void start_after(Tick distance, std::uint64_t packets) {
    for (; packets != 0; --packets) start_after(distance);
  }
  void start_at_once(Tick distance, std::uint64_t packets) {
    pattern_.note_more(distance, packets);
    last_ += distance * packets;
  }
  // nullptr: no pattern.
  [[nodiscard]] const Comb* comb() {
    std::optional<Comb> comb = pattern_.comb(kPacket, kRate);
    return comb ? combs_.get(std::move(*comb)) : nullptr;
  }
  // The distances of the next `count` packets. Precondition: there is a pattern.
  [[nodiscard]] std::vector<Tick> next_distances(std::size_t count) {
    const FlitRun run{last_, kRate, (count + 1) * kPacket, comb()};
    std::vector<Tick> distances;
    for (std::size_t k = 0; k < count; ++k) {
      distances.push_back(run.tick_of((k + 1) * kPacket) - run.tick_of(k * kPacket));
    }
    return distances;
  }

 private:
  StartPattern pattern_;
  CombPool combs_;
  Tick last_ = 1000;
};

TEST_CASE("Bursts of packets are recognised when the gap after them has come twice") {
  Sender sender;
  sender.start_after(7);
  for (int gaps = 0; gaps < 2; ++gaps) {
    for (int packet = 0; packet < 4; ++packet) {
      CHECK(sender.comb() == nullptr);
      sender.start_after(kSeamless);
    }
    CHECK(sender.comb() == nullptr);
    sender.start_after(33);
  }
  for (int more = 0; more < 20; ++more) {
    REQUIRE(sender.comb() != nullptr);
    CHECK(sender.comb()->stride == 4 * kSeamless + 33);
    CHECK(sender.comb()->others.size() == 4);
    const std::vector<Tick> next = sender.next_distances(10);
    CHECK(std::count(next.begin(), next.end(), Tick{33}) == 2);
    CHECK(std::count(next.begin(), next.end(), kSeamless) == 8);
    CHECK(next[static_cast<std::size_t>(4 - more % 5)] == 33);
    sender.start_after(next[0]);
  }
}

TEST_CASE("Bursts are recognised also if the first one began earlier") {
  Sender sender;
  sender.start_after(7);
  sender.start_after(kSeamless);
  sender.start_after(33);
  sender.start_after(kSeamless, 4);
  sender.start_after(33);
  REQUIRE(sender.comb() != nullptr);
  CHECK(sender.next_distances(6) ==
        std::vector<Tick>{kSeamless, kSeamless, kSeamless, kSeamless, 33, kSeamless});
}

TEST_CASE("Three equal distances with gaps are a pattern") {
  Sender sender;
  sender.start_after(7);
  for (int packet = 0; packet < 3; ++packet) {
    CHECK(sender.comb() == nullptr);
    sender.start_after(kSeamless + 1);
  }
  REQUIRE(sender.comb() != nullptr);
  CHECK(sender.comb()->others.empty());
  CHECK(sender.next_distances(4) == std::vector<Tick>(4, kSeamless + 1));
}

TEST_CASE("Packets without a gap are no comb") {
  Sender sender;
  sender.start_after(7);
  for (int packet = 0; packet < 100; ++packet) {
    CHECK(sender.comb() == nullptr);
    sender.start_after(kSeamless);
  }
}

struct Group {
  Tick distance;
  std::uint64_t packets;
};

// Equal distances within a group, other distances in each group.
std::vector<Group> random_period(std::mt19937& random) {
  std::vector<Tick> distances(40);
  std::iota(distances.begin(), distances.end(), kSeamless);
  std::shuffle(distances.begin(), distances.end(), random);
  std::vector<Group> period(2 + random() % 14);
  for (std::size_t g = 0; g < period.size(); ++g) period[g] = {distances[g], 1 + random() % 5};
  return period;
}

TEST_CASE("A period of uneven distances is recognised from any packet on in two and a half") {
  for (std::uint32_t seed = 1; seed <= (test::kSanitized ? 50 : 500); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::vector<Tick> period;
    for (const Group& group : random_period(random)) {
      period.insert(period.end(), group.packets, group.distance);
    }
    const auto any = static_cast<std::ptrdiff_t>(random() % period.size());
    std::rotate(period.begin(), period.begin() + any, period.end());
    Sender sender;
    sender.start_after(7);
    for (std::size_t packet = 0; packet < 5 * period.size(); ++packet) {
      if (2 * packet >= 5 * period.size()) {
        CAPTURE(packet, period);
        REQUIRE(sender.comb() != nullptr);
        REQUIRE(sender.comb()->others.size() == period.size() - 1);
        std::vector<Tick> follow;
        for (std::size_t i = 0; i < 3 * period.size(); ++i) {
          follow.push_back(period[(packet + i) % period.size()]);
        }
        REQUIRE(sender.next_distances(follow.size()) == follow);
      }
      sender.start_after(period[packet % period.size()]);
    }
  }
}

TEST_CASE("Packets noted at once are the same as packets noted one by one") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::vector<Group> period = random_period(random);
    Sender one_by_one;
    Sender at_once;
    one_by_one.start_after(7);
    at_once.start_after(7);
    int recognised = 0;
    for (std::size_t g = 0; g < 4 * period.size(); ++g) {
      const auto [distance, packets] = period[g % period.size()];
      one_by_one.start_after(distance, packets);
      at_once.start_at_once(distance, packets);
      REQUIRE((one_by_one.comb() == nullptr) == (at_once.comb() == nullptr));
      if (at_once.comb() == nullptr) continue;
      ++recognised;
      REQUIRE(one_by_one.next_distances(50) == at_once.next_distances(50));
    }
    REQUIRE(recognised > 0);
  }
}

TEST_CASE("Another distance ends the pattern") {
  const std::vector<Group> bursts{{kSeamless, 4}, {33, 1}};
  const std::vector<Group> even{{14, 3}};
  const std::vector<Group> uneven{{11, 1}, {12, 2}, {13, 1}, {15, 1}};
  for (const std::vector<Group>& period : {bursts, even, uneven}) {
    Sender sender;
    sender.start_after(7);
    for (int times = 0; times < 3; ++times) {
      for (const auto& [distance, packets] : period) sender.start_after(distance, packets);
    }
    CHECK(sender.comb() != nullptr);
    sender.start_after(77);
    CHECK(sender.comb() == nullptr);
  }
}

TEST_CASE("A burst that is longer than those before ends the pattern") {
  Sender sender;
  sender.start_after(7);
  for (int times = 0; times < 3; ++times) {
    sender.start_after(kSeamless, 4);
    sender.start_after(33);
  }
  sender.start_after(kSeamless, 4);
  CHECK(sender.comb() != nullptr);
  sender.start_after(kSeamless);
  CHECK(sender.comb() == nullptr);
}

// Distances have 32 bits.
TEST_CASE("A distance of more than 32 bits is the end of one pattern and the start of another") {
  constexpr Tick kLongest = 0xffffffffU;
  Sender sender;
  sender.start_after(7);
  sender.start_after(kLongest, 3);
  REQUIRE(sender.comb() != nullptr);
  CHECK(sender.next_distances(2) == std::vector<Tick>(2, kLongest));
  sender.start_after(kLongest + 1, 5);
  CHECK(sender.comb() == nullptr);
  sender.start_after(14, 2);
  CHECK(sender.comb() == nullptr);
  sender.start_after(14);
  REQUIRE(sender.comb() != nullptr);
  CHECK(sender.next_distances(2) == std::vector<Tick>(2, 14));
}

// Many distances together are longer than 32 bits.
TEST_CASE("A period of more ticks than 32 bits is recognised with all of them") {
  constexpr Tick kLong = 303'994'832;
  Sender sender;
  sender.start_after(7);
  for (int times = 0; times < 3; ++times) {
    sender.start_after(kLong, 98);
    sender.start_after(kLong + 5);
  }
  REQUIRE(sender.comb() != nullptr);
  CHECK(sender.comb()->stride == 99 * kLong + 5);
  std::vector<Tick> expected(98, kLong);
  expected.push_back(kLong + 5);
  CHECK(sender.next_distances(99) == expected);
}

// A pool that is full knows its combs and takes no other.
TEST_CASE("The pool of combs does not grow for ever") {
  CombPool pool;
  const auto comb = [](Tick stride) { return Comb{stride, 0, 4, {}}; };
  const Comb* first = pool.get(comb(10));
  Tick stride = 10;
  while (pool.get(comb(stride)) != nullptr) ++stride;
  CHECK(stride < 1'000'000);
  CHECK(pool.get(comb(10)) == first);
  CHECK(pool.get(comb(stride + 1)) == nullptr);
}

}  // namespace
}  // namespace espalier
