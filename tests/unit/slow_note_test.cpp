// The note about a simulation that went packet by packet for a second or longer.
#include <catch2/catch.hpp>

#include "sims/experiment/point_runner.h"
#include "sims/point/config.h"
#include "tests/support/networks.h"

using namespace espalier;
using Catch::Matchers::Contains;

namespace {

const char* const kContention = "collective.algorithm: packets contend";
const char* const kShallow =
    "system.router.vc_depth_flits: 160 flits do not cover the credit loop, 318 flits or more cover";
const char* const kSlowLinks = "system.router.flit_bytes: links carry less than a flit of 16 B";
const char* const kDma = "system.ni.dma.bandwidth: ";
const char* const kChoice = "system.flow_control.mode: ";

RunPoint collective_point(std::uint32_t depth) {
  RunPoint point;
  point.collective.emplace();
  point.system.router.vc_depth_flits = depth;
  return point;
}

PacketStops stops_of(StopReason reason, std::uint64_t flits) {
  PacketStops stops;
  stops.flit_hops = 1000;
  stops[reason] = flits;
  return stops;
}

std::string note_of(const RunPoint& point, const PacketStops& stops, double seconds = 2.34) {
  return slow_note(make_torus({4, 4}, point.system.link), point, stops, seconds);
}

}  // namespace

TEST_CASE("A note says how long a simulation took and which setting costs most") {
  const RunPoint point = collective_point(160);
  CHECK(
      note_of(point, stops_of(StopReason::credits, 466)) ==
      "the simulation took 2.3 s of CPU time, and packet trains stopped after 47 % of the packets: "
      "system.router.vc_depth_flits: 160 flits do not cover the credit loop, 318 flits or more "
      "cover it");
  CHECK_THAT(note_of(point, stops_of(StopReason::contention, 900)), Contains(kContention));
  RunPoint traffic = point;
  traffic.collective.reset();
  traffic.traffic.emplace();
  CHECK_THAT(note_of(traffic, stops_of(StopReason::contention, 900)),
             Contains(": traffic.pattern: packets contend"));
}

TEST_CASE("There is no note without time, without a share, or without a setting") {
  const RunPoint point = collective_point(160);
  const PacketStops half = stops_of(StopReason::credits, 500);
  CHECK_FALSE(note_of(point, half, 1.01).empty());
  CHECK(note_of(point, half, 1).empty());
  CHECK(note_of(point, stops_of(StopReason::credits, 50)).empty());
  CHECK(note_of(point, PacketStops()).empty());
  CHECK(note_of(point, stops_of(StopReason::elsewhere, 900)).empty());
  // Links of a flit a cycle and VCs that cover the round trip are not the cause.
  CHECK(note_of(point, stops_of(StopReason::data, 900)).empty());
  CHECK(note_of(collective_point(318), half).empty());
}

TEST_CASE("A note names what makes data slow") {
  RunPoint point = collective_point(318);
  point.system.link.bytes_per_second = 12'000'000'000;
  const PacketStops stops = stops_of(StopReason::data, 900);
  CHECK_THAT(note_of(point, stops), Contains(kSlowLinks));
  point.system.ni.dma_bytes_per_cycle = 64;
  CHECK_THAT(note_of(point, stops), Contains(kDma) && !Contains(kSlowLinks));
}

TEST_CASE("Where packets contend, a note names larger packets that fit into a VC") {
  const PacketStops stops = stops_of(StopReason::contention, 900);
  const char* const larger =
      "system.flow_control.payload_bytes: 4096, as in InfiniBand and RoCE, there are 16 times "
      "fewer";
  // A flit is 16 B, and a packet has a head flit.
  CHECK_THAT(note_of(collective_point(257), stops), Contains(larger));
  CHECK_THAT(note_of(collective_point(256), stops), !Contains("payload_bytes"));
  RunPoint point = collective_point(318);
  point.system.flow_control.payload_bytes = 2049;
  CHECK_THAT(note_of(point, stops), !Contains("payload_bytes"));
  point.system.flow_control.payload_bytes = 2048;
  CHECK_THAT(note_of(point, stops), Contains("there are 2 times fewer"));
}

TEST_CASE("A note names each cause that weighs a tenth of the first, and no other") {
  PacketStops stops = stops_of(StopReason::contention, 300);
  stops[StopReason::credits] = 30;
  CHECK_THAT(note_of(collective_point(160), stops), Contains(kContention) && Contains(kShallow));
  stops[StopReason::credits] = 29;
  CHECK_THAT(note_of(collective_point(160), stops), Contains(kContention) && !Contains(kShallow));
  // Credits behind contention are no cause where the VCs cover the round trip.
  stops[StopReason::credits] = 600;
  CHECK_THAT(note_of(collective_point(318), stops), Contains(kContention) && !Contains(kShallow));
  // A packet takes another VC where the first is out of credits: shallow, or before a slow link.
  const PacketStops choice = stops_of(StopReason::vc_choice, 600);
  CHECK_THAT(note_of(collective_point(160), choice), Contains(kShallow) && Contains(kChoice));
  CHECK_THAT(note_of(collective_point(318), choice),
             Contains(kChoice) && !Contains(kShallow) && !Contains(kSlowLinks));
  RunPoint slow = collective_point(318);
  slow.system.link.bytes_per_second = 12'000'000'000;
  CHECK_THAT(note_of(slow, choice), Contains(kChoice) && Contains(kSlowLinks));
}
