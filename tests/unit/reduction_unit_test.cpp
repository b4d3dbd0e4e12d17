#include "ni/reduction_unit.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

ReductionSpec after_message(std::uint64_t bytes_per_cycle, Bytes block = 1, Cycle latency = 1) {
  return {ReductionMode::after_message, latency, bytes_per_cycle, block};
}

ReductionSpec streaming(std::uint64_t bytes_per_cycle, Cycle latency = 1, Bytes block = 1) {
  return {ReductionMode::streaming, latency, bytes_per_cycle, block};
}

TEST_CASE("Occupancy is bytes over throughput rounded up to whole cycles") {
  const ReductionUnit unit(after_message(128), 1);
  CHECK(unit.occupancy(0) == 0);
  CHECK(unit.occupancy(1) == 1);
  CHECK(unit.occupancy(128) == 1);
  CHECK(unit.occupancy(129) == 2);
  CHECK(unit.occupancy(4096) == 32);
}

TEST_CASE("Work is done in whole blocks of 16 arrays of 32 lanes") {
  // The authors' simulator: 16 cycles for each started block of 512 elements of 4 bytes.
  const ReductionUnit unit(after_message(128, 2048), 1);
  for (Bytes elements = 1; elements < 5000; elements += 37) {
    CHECK(unit.occupancy(4 * elements) == 16 * ((elements + 511) / 512));
  }
  CHECK(unit.occupancy(2048) == 16);
  CHECK(unit.occupancy(2049) == 32);
}

TEST_CASE("A unit of unlimited throughput has latency only") {
  ReductionUnit unit(after_message(0), 2);
  CHECK(unit.occupancy(1'000'000) == 0);
  CHECK(unit.message_visible(1'000'000, 10, 10) == 11);
  CHECK(unit.message_visible(1'000'000, 10, 10) == 11);
}

TEST_CASE("An idle unit gives visibility plus latency plus occupancy") {
  ReductionUnit unit(after_message(128, 2048, 3), 1);
  CHECK(unit.message_visible(2048, 100, 100) == 100 + 3 + 16);
}

TEST_CASE("Whole messages are reduced one after the other in the order of their completion") {
  ReductionUnit unit(after_message(16), 4);
  CHECK(unit.message_visible(160, 100, 100) == 111);
  CHECK(unit.message_visible(160, 100, 100) == 121);
  CHECK(unit.message_visible(16, 105, 105) == 122);
  // The pipeline is filled while the one before is in it; once it has run empty it costs again.
  CHECK(unit.message_visible(16, 121, 121) == 123);
  CHECK(unit.message_visible(16, 123, 123) == 125);
}

TEST_CASE("The unit is idle from the cycle in which its last message is reduced") {
  ReductionUnit unit(after_message(16), 1);
  CHECK(unit.idle(0));
  const Cycle done = unit.message_visible(160, 100, 100);
  CHECK(unit.busy_until() == done);
  CHECK_FALSE(unit.idle(done - 1));
  CHECK(unit.idle(done));
}

TEST_CASE("Streaming at port rate adds its latency to the last flit's visibility") {
  ReductionUnit unit(streaming(0, 4), 2);
  const Cycle lane_done = unit.packets_visible(0, 1, 256, 17, 66, 66);
  CHECK(unit.message_visible(256, 66, lane_done) == 70);
}

TEST_CASE("A lane that is as fast as the flits never lags behind them") {
  ReductionUnit unit(streaming(16), 1);
  static_cast<void>(unit.packets_visible(0, 1, 256, 17, 66, 66));
  CHECK(unit.packets_visible(0, 1, 256, 17, 83, 83) == 83);
}

TEST_CASE("A slower lane lags behind by what it cannot do in the packets' time") {
  ReductionUnit unit(streaming(8), 1);
  // 256 bytes take 32 cycles from the first flit at 50; the next packet has to wait for the lane.
  static_cast<void>(unit.packets_visible(0, 1, 256, 17, 66, 66));
  const Cycle lane_done = unit.packets_visible(0, 1, 256, 17, 83, 83);
  CHECK(lane_done == 50 + 32 + 32);
  CHECK(unit.message_visible(512, 83, lane_done) == lane_done + 1);
}

TEST_CASE("Lanes of different ports work at the same time") {
  ReductionUnit unit(streaming(8), 2);
  CHECK(unit.packets_visible(0, 1, 256, 17, 66, 66) == 82);
  CHECK(unit.packets_visible(1, 1, 256, 17, 66, 66) == 82);
}

TEST_CASE("A message is not held up by packets of others that its lane takes after its own") {
  ReductionUnit unit(streaming(1), 1);
  const Cycle lane_done = unit.packets_visible(0, 1, 16, 1, 100, 100);
  static_cast<void>(unit.packets_visible(0, 1, 1600, 100, 200, 200));
  CHECK(unit.message_visible(16, 103, lane_done) == lane_done + 1);
}

TEST_CASE("Packets without a gap occupy a lane as if they were told of one by one") {
  for (std::uint64_t rate = 1; rate <= 40; ++rate) {
    for (std::uint64_t count = 1; count <= 6; ++count) {
      ReductionUnit together(streaming(rate), 1);
      ReductionUnit one_by_one(streaming(rate), 1);
      Cycle last = 30;
      for (std::uint32_t run = 0; run < 4; ++run) {
        last += 20 + 7 * run;
        Cycle expected = 0;
        for (std::uint64_t p = 0; p < count; ++p) {
          expected = one_by_one.packets_visible(0, 1, 272, 17, last + 17 * p, last + 17 * p);
        }
        last += 17 * (count - 1);
        CAPTURE(rate, count, run);
        CHECK(together.packets_visible(0, count, 272, 17, last - 17 * (count - 1), last) ==
              expected);
      }
    }
  }
}

TEST_CASE(
    "Packets at equal distances that are no whole cycles occupy a lane as if told of singly") {
  for (std::uint64_t rate = 1; rate <= 40; ++rate) {
    for (std::uint64_t sixteenths = 17 * 16; sixteenths < 22 * 16; sixteenths += 5) {
      ReductionUnit together(streaming(rate), 1);
      ReductionUnit one_by_one(streaming(rate), 1);
      const auto last_of = [&](std::uint64_t packet) { return 30 + packet * sixteenths / 16; };
      Cycle expected = 0;
      for (std::uint64_t p = 0; p < 9; ++p) {
        expected = one_by_one.packets_visible(0, 1, 272, 17, last_of(p), last_of(p));
      }
      CAPTURE(rate, sixteenths);
      CHECK(together.packets_visible(0, 9, 272, 17, last_of(0), last_of(8)) == expected);
    }
  }
}

TEST_CASE("A unit that waits for whole messages ignores packets") {
  ReductionUnit unit(after_message(128), 1);
  const Cycle lane_done = unit.packets_visible(0, 1, 256, 17, 20, 20);
  CHECK(unit.message_visible(256, 20, lane_done) == 23);
}

}  // namespace
}  // namespace espalier
