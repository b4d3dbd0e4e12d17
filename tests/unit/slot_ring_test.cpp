#include "hw/clock/clock_domain.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace espalier {
namespace {

TEST_CASE("A slot ring finds the next occupied slot, around its end as well") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    SlotRing ring;
    std::set<std::size_t> occupied;
    for (std::size_t i = random() % 6; i > 0; --i) {
      const std::size_t slot = random() % SlotRing::kSlots;
      ring.set(slot);
      occupied.insert(slot);
    }
    if (!occupied.empty() && random() % 3 == 0) {
      ring.clear(*occupied.begin());
      occupied.erase(occupied.begin());
    }
    const std::uint64_t base = random();
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
      std::size_t expected = first;
      while (expected < SlotRing::kSlots &&
             occupied.count((base + expected) % SlotRing::kSlots) == 0) {
        ++expected;
      }
      REQUIRE(ring.next(base, first) == expected);
    }
  }
}

}  // namespace
}  // namespace espalier
