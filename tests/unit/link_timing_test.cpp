#include "hw/topology/link_timing.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace espalier {
namespace {

constexpr ClockSpec kClock{1'000'000'000, 16};

Topology one_way_links(const std::vector<LinkSpec>& specs) {
  Topology topology("links");
  const NodeId a = topology.add_node("a");
  const NodeId b = topology.add_node("b");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string port(1, static_cast<char>('0' + i));
    topology.add_link(a, b, specs[i], port, port);
  }
  return topology;
}

SystemTiming timing_of(std::uint64_t bytes_per_second, const ClockSpec& clock = kClock) {
  return time_links(one_way_links({{150'000, bytes_per_second}}), clock);
}

TEST_CASE("A latency is covered by whole cycles") {
  CHECK(cycles_covering(0, kClock) == 0);
  CHECK(cycles_covering(1, kClock) == 1);
  CHECK(cycles_covering(150'000, kClock) == 150);
  CHECK(cycles_covering(150'001, kClock) == 151);
  CHECK(cycles_covering(149'999, kClock) == 150);
  CHECK(cycles_covering(150'000, {1'500'000'000, 16}) == 225);
  CHECK(cycles_covering(1'000, {1'500'000'000, 16}) == 2);
  // A second at 4 GHz: the product exceeds 64 bits.
  CHECK(cycles_covering(10'000'000'000'000, {4'000'000'000, 16}) == 40'000'000'000);
}

TEST_CASE("A link of a flit per cycle needs no ticks") {
  const SystemTiming timing = timing_of(16'000'000'000);
  CHECK(timing.ticks_per_cycle == 1);
  REQUIRE(timing.links.size() == 1);
  CHECK(timing.links[0].latency == 150);
  CHECK(timing.links[0].ticks_per_flit == 1);
}

TEST_CASE("Cycles per flit are an exact fraction") {
  const SystemTiming half = timing_of(8'000'000'000);
  CHECK(half.ticks_per_cycle == 1);
  CHECK(half.links[0].ticks_per_flit == 2);

  const SystemTiming three_quarters = timing_of(12'000'000'000);
  CHECK(three_quarters.ticks_per_cycle == 3);
  CHECK(three_quarters.links[0].ticks_per_flit == 4);

  const SystemTiming other_clock = timing_of(16'000'000'000, {1'500'000'000, 16});
  CHECK(other_clock.ticks_per_cycle == 2);
  CHECK(other_clock.links[0].ticks_per_flit == 3);
}

TEST_CASE("All links of a system share the least common multiple of their ticks") {
  const SystemTiming timing = time_links(one_way_links({{1'000, 16'000'000'000},
                                                        {2'000, 12'000'000'000},
                                                        {3'000, 10'000'000'000}}),  // 1 4/3 8/5
                                         kClock);
  CHECK(timing.ticks_per_cycle == 15);
  CHECK(timing.links[0].ticks_per_flit == 15);
  CHECK(timing.links[1].ticks_per_flit == 20);
  CHECK(timing.links[2].ticks_per_flit == 24);
  CHECK(timing.links[0].latency == 1);
  CHECK(timing.links[1].latency == 2);
  CHECK(timing.links[2].latency == 3);
}

TEST_CASE("Every rate is kept exactly whatever the fraction") {
  for (std::uint64_t rate = 1'000'000'000; rate <= 16'000'000'000; rate += 250'000'000) {
    const SystemTiming timing = timing_of(rate);
    CHECK(timing.links[0].ticks_per_flit * rate == timing.ticks_per_cycle * 16'000'000'000);
  }
}

TEST_CASE("A link may carry a flit per cycle but not a byte per second more") {
  CHECK_NOTHROW(timing_of(16'000'000'000));
  CHECK_THROWS_AS(timing_of(16'000'000'001), std::invalid_argument);
  CHECK_THROWS_AS(timing_of(0), std::invalid_argument);
}

TEST_CASE("A link latency is at least a cycle") {
  CHECK_THROWS_AS(time_links(one_way_links({{0, 16'000'000'000}}), kClock), std::invalid_argument);
  CHECK(time_links(one_way_links({{1, 16'000'000'000}}), kClock).links[0].latency == 1);
}

TEST_CASE("Rates without a common tick are refused") {
  // 16e9 / (16e9 - 1) needs 16e9 - 1 ticks.
  CHECK_THROWS_AS(timing_of(15'999'999'999), std::invalid_argument);
  // 2^20 ticks are allowed, two rates that are fine alone may not be together.
  const ClockSpec clock{1'048'577, 1};
  CHECK(timing_of(1'048'576, clock).ticks_per_cycle == 1'048'576);
  CHECK(timing_of(1'048'575, clock).ticks_per_cycle == 1'048'575);
  CHECK_THROWS_AS(
      time_links(one_way_links({{1'000'000'000'000, 1'048'576}, {1'000'000'000'000, 1'048'575}}),
                 clock),
      std::invalid_argument);
}

TEST_CASE("A link's own flit width counts for its rate, in ticks that all links share") {
  const SystemTiming timing = time_links(one_way_links({{1'000, 25'000'000'000, 25},
                                                        {1'000, 187'500'000'000, 188},
                                                        {1'000, 8'000'000'000},
                                                        {1'000, 50'000'000'000, 200}}),
                                         kClock);
  CHECK(timing.ticks_per_cycle == 375);  // 376/375 of a cycle per flit of 188 B
  CHECK(timing.links[0].ticks_per_flit == 375);
  CHECK(timing.links[1].ticks_per_flit == 376);
  CHECK(timing.links[2].ticks_per_flit == 2 * 375);
  CHECK(timing.links[3].ticks_per_flit == 4 * 375);
}

TEST_CASE("A link with flits of its own carries one of them per cycle and not more") {
  CHECK_NOTHROW(time_links(one_way_links({{1'000, 100'000'000'000, 100}}), kClock));
  CHECK_THROWS_AS(time_links(one_way_links({{1'000, 100'000'000'001, 100}}), kClock),
                  std::invalid_argument);
  CHECK_THROWS_AS(time_links(one_way_links({{1'000, 16'000'000'000, 15}}), kClock),
                  std::invalid_argument);
  CHECK(flit_bytes_of({1'000, 1, 100}, kClock) == 100);
  CHECK(flit_bytes_of({1'000, 1}, kClock) == 16);
}

TEST_CASE("A whole number of cycles survives the way through picoseconds") {
  for (const std::uint64_t hertz :
       {1'000ULL, 700'000'000ULL, 1'000'000'000ULL, 3'000'000'000ULL, 999'999'999'989ULL}) {
    for (const Cycle cycles : {1ULL, 2ULL, 7ULL, 1'685ULL}) {
      CHECK(cycles_covering(picoseconds_of(cycles, {hertz, 16}), {hertz, 16}) == cycles);
    }
  }
  CHECK(picoseconds_of(7, kClock) == 7'000);
}

TEST_CASE("Cycles convert to nanoseconds by the clock") {
  CHECK(nanoseconds(150, kClock) == 150.0);
  CHECK(nanoseconds(150, {1'500'000'000, 16}) == 100.0);
}

}  // namespace
}  // namespace espalier
