// DMA and reduction as bottlenecks, by hand.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::kDefaultLink;
using test::lone_message;
using test::post_messages;

const Topology& pair() {
  static const Topology topology = make_mesh({2}, kDefaultLink);
  return topology;
}

SystemConfig with_dma(std::uint64_t bytes_per_cycle,
                      FlowControlMode mode = FlowControlMode::packet) {
  SystemConfig config = in_mode(mode);
  config.ni.dma_bytes_per_cycle = bytes_per_cycle;
  return config;
}

TEST_CASE("A packet can be sent when the DMA engine has read all of it") {
  // ceil(b / rate) - 1 cycles later than with unlimited DMA.
  for (const std::uint64_t rate : {1U, 8U, 16U, 100U, 256U, 1000U}) {
    for (const Bytes bytes : {Bytes{1}, Bytes{100}, Bytes{256}}) {
      const Cycle reading = (bytes + rate - 1) / rate;
      const Cycle flits = (bytes + 15) / 16 + 1;
      CAPTURE(rate, bytes);
      CHECK(lone_message(pair(), with_dma(rate), {0, 1, bytes}) == flits + 161 + reading - 1);
    }
  }
}

TEST_CASE("A DMA engine slower than the link sets the pace packet by packet") {
  // 8 B per cycle: a packet of 256 B every 32 cycles, its 17 flits in the shadow of the next one.
  for (const std::uint64_t packets : {1U, 2U, 10U, 40U}) {
    CHECK(lone_message(pair(), with_dma(8), {0, 1, packets * 256}) == 32 * packets + 17 + 160);
  }
  // The same for messages; the last sub-packet has 16 flits.
  CHECK(lone_message(pair(), with_dma(8, FlowControlMode::message), {0, 1, 10 * 256}) ==
        32 * 10 + 16 + 160);
}

TEST_CASE("A DMA engine faster than the link does not show but for the first packet") {
  for (const std::uint64_t packets : {1U, 2U, 10U, 40U}) {
    CHECK(lone_message(pair(), with_dma(32), {0, 1, packets * 256}) == 8 - 1 + 17 * packets + 161);
  }
}

TEST_CASE("Ports share the DMA engine packet by packet in turns") {
  const Topology ring = make_torus({2}, kDefaultLink);
  const auto out = ring.out_links(NodeId(0));
  const auto post = [&](std::size_t port) {
    return test::Post{0, 1, 10 * 256, 0, TransferKind::copy, {out[port].index()}};
  };
  // 16 B per cycle for two links of 17 flits per 256 B: each port gets a packet every 32 cycles.
  const auto result = post_messages(ring, with_dma(16), {post(0), post(1)});
  CHECK(result.violation.empty());
  CHECK(result.delivered[0] == 16 * 19 + 17 + 160);
  CHECK(result.delivered[1] == 16 * 20 + 17 + 160);
}

TEST_CASE("The DMA engine reads ahead only as far as the injection buffer holds") {
  // Nothing leaves while the router has no room: with 34 flits of buffer two packets are read.
  SystemConfig config = with_dma(256);
  config.ni.buffer_flits = 16;  // less than a packet: one at a time
  // Packet k is read (1 cycle, + latency 2 - 1) when the one before has left: 17 cycles + 1 + 2.
  const Cycle one = lone_message(pair(), config, {0, 1, 256});
  const Cycle ten = lone_message(pair(), config, {0, 1, 10 * 256});
  CHECK(one == 17 + 161);
  CHECK(ten - one == 9 * (17 + 2));
  config.ni.buffer_flits = 34;
  CHECK(lone_message(pair(), config, {0, 1, 10 * 256}) == 170 + 161);
}

SystemConfig with_reduction(ReductionMode mode, std::uint64_t bytes_per_cycle, Cycle latency = 1,
                            Bytes block = 1) {
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.ni.reduction = {mode, latency, bytes_per_cycle, block};
  return config;
}

TEST_CASE("A whole message is reduced after it has arrived") {
  const test::Post post{0, 1, 4096, 0, TransferKind::reduce};
  const Cycle visible = 16 * 17 + 161;
  CHECK(lone_message(pair(), with_reduction(ReductionMode::after_message, 0), post) == visible + 1);
  CHECK(lone_message(pair(), with_reduction(ReductionMode::after_message, 128), post) ==
        visible + 1 + 32);
  CHECK(lone_message(pair(), with_reduction(ReductionMode::after_message, 128, 5, 16384), post) ==
        visible + 5 + 128);
}

TEST_CASE("Streaming reduction at port rate ends its latency after the message") {
  const test::Post post{0, 1, 4096, 0, TransferKind::reduce};
  const Cycle visible = 16 * 17 + 161;
  CHECK(lone_message(pair(), with_reduction(ReductionMode::streaming, 0), post) == visible + 1);
  CHECK(lone_message(pair(), with_reduction(ReductionMode::streaming, 16, 7), post) == visible + 7);
}

TEST_CASE("Streaming reduction slower than the link takes its own time from the first flit on") {
  // 8 B per cycle: 32 cycles per packet from the visibility of the message's first flit.
  const Cycle first_visible = 162;
  CHECK(lone_message(pair(), with_reduction(ReductionMode::streaming, 8),
                     {0, 1, 10 * 256, 0, TransferKind::reduce}) == first_visible + 32 * 10 + 1);
}

TEST_CASE("Copies are not reduced") {
  CHECK(lone_message(pair(), with_reduction(ReductionMode::after_message, 1), {0, 1, 4096}) ==
        16 * 17 + 161);
}

TEST_CASE("Messages that complete together are reduced one after the other in port order") {
  const Topology ring = make_torus({2}, kDefaultLink);
  const auto out = ring.out_links(NodeId(0));
  const auto post = [&](std::size_t port) {
    return test::Post{0, 1, 1024, 0, TransferKind::reduce, {out[port].index()}};
  };
  const auto result =
      post_messages(ring, with_reduction(ReductionMode::after_message, 64), {post(0), post(1)});
  const Cycle visible = 4 * 17 + 161;
  std::vector<Cycle> delivered = result.delivered;
  std::sort(delivered.begin(), delivered.end());
  CHECK(delivered == std::vector<Cycle>{visible + 1 + 16, visible + 1 + 32});
  // The message on the lower in-port of node 1 goes first; "w" leaves node 0 for in-port "e" there.
  const bool first_is_lower = ring.link(out[0]).in_port < ring.link(out[1]).in_port;
  CHECK((result.delivered[0] < result.delivered[1]) == first_is_lower);
}

}  // namespace
}  // namespace espalier
