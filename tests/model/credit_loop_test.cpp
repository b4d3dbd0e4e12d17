// Credits: how deep a buffer must be, and when a packet may start.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "sims/model/idle_times.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::kDefaultLink;
using test::link_of;
using test::lone_message;
using test::post_messages;

constexpr Bytes kLong = 200 * 256;

SystemConfig one_vc(std::uint32_t depth, FlowControlMode mode = FlowControlMode::packet) {
  SystemConfig config = in_mode(mode);
  config.router.vcs = 1;
  config.router.vc_depth_flits = depth;
  return config;
}

TEST_CASE("A stream of 17 flit packets on one VC needs 318 flits and stalls with 317") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  const Cycle unstalled = 200 * 17 + 161;
  CHECK(lone_message(pair, one_vc(1000), {0, 1, kLong}) == unstalled);
  CHECK(lone_message(pair, one_vc(318), {0, 1, kLong}) == unstalled);
  CHECK(lone_message(pair, one_vc(317), {0, 1, kLong}) > unstalled);
}

TEST_CASE("The depth without a stall is the credit loop whatever it consists of") {
  struct Loop {
    Cycle link, credit, pipeline;
    Bytes payload;
  };
  for (const Loop& loop : {Loop{150, 150, 2, 256}, Loop{150, 150, 0, 256}, Loop{150, 150, 5, 256},
                           Loop{20, 80, 2, 256}, Loop{80, 20, 2, 256}, Loop{40, 40, 1, 64},
                           Loop{40, 40, 1, 16}, Loop{1, 1, 0, 16}}) {
    const Topology pair = make_mesh({2}, link_of(loop.link));
    SystemConfig config = one_vc(0);
    config.credit_latency_cycles = loop.credit;
    config.router.pipeline_cycles = loop.pipeline;
    config.flow_control.payload_bytes = loop.payload;
    const auto longest = static_cast<std::uint32_t>(loop.payload / 16 + 1);
    const auto needed = full_rate_depth(config, link_of(loop.link));
    CHECK(needed == loop.link + loop.pipeline + loop.credit + longest - 1);
    const Bytes bytes = 100 * loop.payload;
    const Cycle unstalled = 100 * longest + 2 + 2 + 2 * loop.pipeline + loop.link + 3 + 1 - 1;
    CAPTURE(loop.link, loop.credit, loop.pipeline, loop.payload);
    config.router.vc_depth_flits = static_cast<std::uint32_t>(needed);
    // The NI's channel has a loop of its own, shorter than the link's but in the last rows.
    const Cycle with = lone_message(pair, config, {0, 1, bytes});
    config.router.vc_depth_flits = static_cast<std::uint32_t>(needed - 1);
    const Cycle without = lone_message(pair, config, {0, 1, bytes});
    if (loop.link > 2) {
      CHECK(with == unstalled);
      CHECK(without > unstalled);
    } else {
      CHECK(with <= without);
    }
  }
}

TEST_CASE("In steady state a short buffer gives depth per loop") {
  // A buffer of k whole packets: each packet's start waits for the credits of the packet k before.
  // Its last flit left the buffer 16 cycles after its head did, which was link + pipeline after
  // the head was sent; the credit takes 150 more.
  const Topology pair = make_mesh({2}, kDefaultLink);
  for (const std::uint32_t packets : {1U, 2U, 5U, 18U}) {
    const SystemConfig config = one_vc(17 * packets);
    const Cycle small = lone_message(pair, config, {0, 1, 90 * 256});
    const Cycle large = lone_message(pair, config, {0, 1, 180 * 256});
    CAPTURE(packets);
    CHECK(large - small == 90 / packets * (150 + 2 + 150 + 16));
  }
}

TEST_CASE("Cut-through starts a packet only with room for all of it") {
  const Topology pair = make_mesh({2}, link_of(20));
  // Depth 17 + d: a second packet has d flits of room while the first is buffered.
  const Cycle loop = 20 + 2 + 20;
  for (const std::uint32_t spare : {0U, 1U, 8U, 16U, 17U}) {
    const auto result = post_messages(pair, one_vc(17 + spare), {{0, 1, 256}, {0, 1, 256}});
    CHECK(result.violation.empty());
    // With `spare` slots free from the start it needs the credit of the first one's flit number
    // 17 - spare, which leaves the buffer that many cycles after the head.
    const Cycle start_apart = std::max<Cycle>(17, loop + 16 - spare);
    CAPTURE(spare);
    CHECK(result.delivered[1] - result.delivered[0] == (spare == 17 ? 17 : start_apart));
  }
}

TEST_CASE("A packet longer than the buffer never starts under cut-through and goes in wormhole") {
  const Topology pair = make_mesh({2}, link_of(20));
  SystemConfig config = one_vc(16);
  CHECK(post_messages(pair, config, {{0, 1, 256}}, {}, 20'000).delivered[0] == kNever);
  config.router.vc_depth_flits = 17;
  CHECK(post_messages(pair, config, {{0, 1, 256}}).delivered[0] == 17 + 31);
  config.router.switching = Switching::wormhole;
  config.router.vc_depth_flits = 16;
  const auto result = post_messages(pair, config, {{0, 1, 256}});
  CHECK(result.violation.empty());
  CHECK(result.delivered[0] != kNever);
  CHECK(result.delivered[0] > 17 + 31);
}

TEST_CASE("Wormhole with a single slot sends a flit per credit loop") {
  const Topology pair = make_mesh({2}, link_of(20));
  for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
    SystemConfig config = one_vc(1, mode);
    config.router.switching = Switching::wormhole;
    const auto result = post_messages(pair, config, {{0, 1, 512}});
    CHECK(result.violation.empty());
    const std::uint64_t flits = test::flits_of(config, 512);
    CHECK(result.delivered[0] == 31 + 1 + (flits - 1) * (20 + 2 + 20));
  }
}

TEST_CASE("Wormhole starts with one credit where cut-through waits for the packet") {
  const Topology pair = make_mesh({2}, link_of(20));
  SystemConfig config = one_vc(18);
  const auto vct = post_messages(pair, config, {{0, 1, 256}, {0, 1, 256}});
  config.router.switching = Switching::wormhole;
  const auto wormhole = post_messages(pair, config, {{0, 1, 256}, {0, 1, 256}});
  CHECK(wormhole.violation.empty());
  CHECK(wormhole.delivered[0] == vct.delivered[0]);
  CHECK(wormhole.delivered[1] < vct.delivered[1]);
}

TEST_CASE("A second VC hides the credit loop of the first for packets and not for a message") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  SystemConfig config = one_vc(17);
  const Cycle one = lone_message(pair, config, {0, 1, 100 * 256});
  config.router.vcs = 2;
  const Cycle two = lone_message(pair, config, {0, 1, 100 * 256});
  CHECK(two < one * 6 / 10);
  SystemConfig message = one_vc(17, FlowControlMode::message);
  const Cycle message_one = lone_message(pair, message, {0, 1, 100 * 256});
  message.router.vcs = 2;
  CHECK(lone_message(pair, message, {0, 1, 100 * 256}) == message_one);
}

// Node 1 of a line passes on what comes from node 0 and adds a message of its own to the same link.
struct Merge {
  Cycle passing, own;
};
Merge merge(SwitchHold hold, CrossbarInputs inputs) {
  const Topology line = make_mesh({3}, link_of(20));
  SystemConfig config = in_mode(FlowControlMode::message);
  config.router.hold = hold;
  config.router.crossbar_inputs = inputs;
  // The own message reaches router 1's switch in the very cycle of the passing one's second flit.
  const auto result = post_messages(line, config, {{0, 2, 4096}, {1, 2, 4096, 23}});
  REQUIRE(result.violation == "");
  return {result.delivered[0] - 0, result.delivered[1] - 23};
}

TEST_CASE("A switch that is held shares an output packet by packet") {
  const Merge merged = merge(SwitchHold::packet, CrossbarInputs::port);
  // Both take part from begin to end: nobody finishes before nearly twice the flits have passed.
  CHECK(merged.passing >= 2 * 257 + 31 + 22 - 17 - 17);
  CHECK(merged.own >= 2 * 257 + 31 - 17 - 17);
}

TEST_CASE("A switch allocated flit by flit lets two VCs share an output in turns") {
  for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
    const Merge merged = merge(SwitchHold::flit, inputs);
    // All 514 flits pass in 514 cycles; the last ones of both messages next to each other.
    CHECK(std::max(merged.passing, merged.own + 23) <= 2 * 257 + 31 + 22 + 1);
    CHECK(std::max(merged.passing, merged.own + 23) - std::min(merged.passing, merged.own + 23) <=
          2);
  }
}

TEST_CASE(
    "A short packet overtakes a long one flit by flit and waits for it where the switch is held") {
  const Topology line = make_mesh({3}, link_of(20));
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.flow_control.payload_bytes = 4096;
  config.router.vc_depth_flits = 1000;
  const std::vector<test::Post> posts{{0, 2, 4096}, {1, 2, 16, 40}};
  const auto held = post_messages(line, config, posts);
  config.router.hold = SwitchHold::flit;
  const auto shared = post_messages(line, config, posts);
  const Cycle alone = 40 + 2 + 31;
  CHECK(held.delivered[0] == 257 + 31 + 22);
  CHECK(held.delivered[1] == held.delivered[0] + 2);
  CHECK(shared.delivered[1] <= alone + 2);
  CHECK(shared.delivered[0] == held.delivered[0] + 2);
}

}  // namespace
}  // namespace espalier
