// Latency of a message that is alone, and the bandwidth of a link that is alone.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::flits_of;
using test::in_mode;
using test::kDefaultLink;
using test::link_of;
using test::lone_message;
using test::post_messages;

// A closed form of its own, not the model's.
std::uint64_t flits(FlowControlMode mode, Bytes bytes) {
  const std::uint64_t heads = mode == FlowControlMode::message ? 1 : (bytes + 255) / 256;
  return (bytes + 15) / 16 + heads;
}

TEST_CASE("A lone message over one default hop is visible F + 161 cycles after its issue") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const Bytes bytes :
         {1U, 16U, 17U, 256U, 257U, 272U, 512U, 4096U, 4097U, 65536U, 100'001U}) {
      CAPTURE(static_cast<int>(mode), bytes);
      CHECK(lone_message(pair, in_mode(mode), {0, 1, bytes}) == flits(mode, bytes) + 161);
    }
  }
}

TEST_CASE("Every latency parameter adds to the latency of one hop what it says") {
  struct Parameters {
    Cycle dma, injection, pipeline, link, ejection, delivery;
  };
  for (const Parameters& p : {Parameters{2, 2, 2, 150, 3, 1}, Parameters{1, 1, 0, 1, 1, 1},
                              Parameters{9, 2, 2, 150, 3, 1}, Parameters{2, 9, 2, 150, 3, 1},
                              Parameters{2, 2, 9, 150, 3, 1}, Parameters{2, 2, 2, 9, 3, 1},
                              Parameters{2, 2, 2, 150, 9, 1}, Parameters{2, 2, 2, 150, 3, 9},
                              Parameters{3, 5, 1, 1100, 7, 11}, Parameters{1, 1, 3, 2000, 1, 1}}) {
    SystemConfig config = in_mode(FlowControlMode::packet);
    config.ni.dma_latency_cycles = p.dma;
    config.ni.injection_cycles = p.injection;
    config.router.pipeline_cycles = p.pipeline;
    config.ni.ejection_cycles = p.ejection;
    config.ni.delivery_cycles = p.delivery;
    config.router.vc_depth_flits = 5000;
    const Topology pair = make_mesh({2}, link_of(p.link));
    for (const Bytes bytes : {Bytes{16}, Bytes{1000}}) {
      CAPTURE(p.dma, p.injection, p.pipeline, p.link, p.ejection, p.delivery, bytes);
      CHECK(lone_message(pair, config, {0, 1, bytes}) == flits(FlowControlMode::packet, bytes) +
                                                             p.dma + p.injection + 2 * p.pipeline +
                                                             p.link + p.ejection + p.delivery - 1);
    }
  }
}

TEST_CASE("Every further hop adds the latency of its link and a pipeline") {
  const Topology line = make_mesh({6}, kDefaultLink);
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const Cycle pipeline : {Cycle{0}, Cycle{2}, Cycle{5}}) {
      for (std::size_t hops = 1; hops <= 5; ++hops) {
        SystemConfig config = in_mode(mode);
        config.router.pipeline_cycles = pipeline;
        config.router.vc_depth_flits = 400;
        CAPTURE(static_cast<int>(mode), pipeline, hops);
        CHECK(lone_message(line, config, {0, hops, 5000}) ==
              flits(mode, 5000) + 157 + 2 * pipeline + (hops - 1) * (150 + pipeline));
      }
    }
  }
}

TEST_CASE("Links of different latencies add up along the way") {
  Topology line("line");
  for (const char* name : {"a", "b", "c", "d"}) line.add_node(name);
  line.add_link(NodeId(0), NodeId(1), link_of(7), "e", "w");
  line.add_link(NodeId(1), NodeId(2), link_of(300), "e", "w");
  line.add_link(NodeId(2), NodeId(3), link_of(1), "e", "w");
  SystemConfig config;
  config.router.vc_depth_flits = 1000;
  CHECK(lone_message(line, config, {0, 3, 4096, 0, TransferKind::copy, {0, 1, 2}}) ==
        257 + 11 + (7 + 300 + 1) + 2 * 2);
}

TEST_CASE("A message may become ready at any cycle and takes as long as at cycle 0") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  for (const Cycle ready : {Cycle{1}, Cycle{77}, Cycle{1023}, Cycle{1024}, Cycle{100'000}}) {
    CHECK(lone_message(pair, SystemConfig{}, {1, 0, 512, ready}) == 33 + 161);
  }
}

TEST_CASE("A link of two cycles per flit serializes a message in exactly twice its flits") {
  const Topology pair = make_mesh({2}, link_of(150, 8'000'000'000));
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const Bytes bytes : {1U, 256U, 257U, 1000U, 4096U}) {
      const std::uint64_t f = flits(mode, bytes);
      CAPTURE(static_cast<int>(mode), bytes);
      CHECK(lone_message(pair, in_mode(mode), {0, 1, bytes}) == 2 * (f - 1) + 162);
    }
  }
}

TEST_CASE("A link of 4/3 cycles per flit keeps its phase from packet to packet") {
  const Topology pair = make_mesh({2}, link_of(150, 12'000'000'000));
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const Bytes bytes : {1U, 32U, 48U, 256U, 257U, 1000U, 4096U, 4112U, 4128U, 20'000U}) {
      const std::uint64_t f = flits(mode, bytes);
      CAPTURE(static_cast<int>(mode), bytes);
      CHECK(lone_message(pair, in_mode(mode), {0, 1, bytes}) == (f - 1) * 4 / 3 + 162);
    }
  }
}

TEST_CASE("A link sustains exactly its rate") {
  struct Rate {
    std::uint64_t bytes_per_second, cycles, flits;
  };
  for (const Rate& rate :
       {Rate{16'000'000'000, 1, 1}, Rate{12'000'000'000, 4, 3}, Rate{10'000'000'000, 8, 5},
        Rate{8'000'000'000, 2, 1}, Rate{7'000'000'000, 16, 7}, Rate{1'000'000'000, 16, 1}}) {
    const Topology pair = make_mesh({2}, link_of(150, rate.bytes_per_second));
    for (const FlowControlMode mode : test::kFlowControlModes) {
      const SystemConfig config = in_mode(mode);
      const Bytes small = 105 * 256;
      const Bytes large = 5 * small;
      const std::uint64_t more = flits_of(config, large) - flits_of(config, small);
      REQUIRE(more % rate.flits == 0);
      CAPTURE(rate.bytes_per_second, static_cast<int>(mode));
      CHECK(lone_message(pair, config, {0, 1, large}) - lone_message(pair, config, {0, 1, small}) ==
            more / rate.flits * rate.cycles);
    }
  }
}

TEST_CASE("From a slow link into a fast one a packet waits until it streams without a gap") {
  // Slow link first: the packet's last flit decides, so the fast link adds nothing but its latency
  // and a cycle per flit of the last packet does not appear twice.
  Topology line("line");
  for (const char* name : {"a", "b", "c"}) line.add_node(name);
  line.add_link(NodeId(0), NodeId(1), link_of(10, 8'000'000'000), "e", "w");
  line.add_link(NodeId(1), NodeId(2), link_of(10), "e", "w");
  const SystemConfig config = in_mode(FlowControlMode::packet);
  for (const Bytes bytes : {Bytes{16}, Bytes{256}, Bytes{1024}}) {
    const std::uint64_t f = flits(FlowControlMode::packet, bytes);
    CHECK(lone_message(line, config, {0, 2, bytes, 0, TransferKind::copy, {0, 1}}) ==
          2 * (f - 1) + (2 + 2 + 3 + 1) + 2 * 10 + 3 * 2);
  }
}

TEST_CASE("A fast link into a slow one takes the slow one's time") {
  Topology line("line");
  for (const char* name : {"a", "b", "c"}) line.add_node(name);
  line.add_link(NodeId(0), NodeId(1), link_of(10), "e", "w");
  line.add_link(NodeId(1), NodeId(2), link_of(10, 8'000'000'000), "e", "w");
  for (const FlowControlMode mode : test::kFlowControlModes) {
    for (const Bytes bytes : {Bytes{16}, Bytes{256}, Bytes{100'000}}) {
      const std::uint64_t f = flits(mode, bytes);
      CHECK(lone_message(line, in_mode(mode), {0, 2, bytes, 0, TransferKind::copy, {0, 1}}) ==
            2 * (f - 1) + (2 + 2 + 3 + 1) + 2 * 10 + 3 * 2);
    }
  }
}

TEST_CASE("Two messages on one port follow each other without a bubble") {
  const Topology pair = make_mesh({2}, kDefaultLink);
  for (const FlowControlMode mode : test::kFlowControlModes) {
    const auto result = post_messages(pair, in_mode(mode), {{0, 1, 512}, {0, 1, 1024}});
    CHECK(result.violation.empty());
    CHECK(result.delivered[0] == flits(mode, 512) + 161);
    CHECK(result.delivered[1] == flits(mode, 512) + flits(mode, 1024) + 161);
  }
}

TEST_CASE("Parallel links of a two wide torus carry two messages at once") {
  const Topology ring = make_torus({2}, kDefaultLink);
  const auto to_other = ring.out_links(NodeId(0));
  const auto post = [&](std::size_t port) {
    return test::Post{0, 1, 4096, 0, TransferKind::copy, {to_other[port].index()}};
  };
  const auto parallel = post_messages(ring, SystemConfig{}, {post(0), post(1)});
  CHECK(parallel.delivered == std::vector<Cycle>{257 + 161, 257 + 161});
  const auto shared = post_messages(ring, SystemConfig{}, {post(0), post(0)});
  CHECK(shared.delivered == std::vector<Cycle>{257 + 161, 2 * 257 + 161});
}

}  // namespace
}  // namespace espalier
