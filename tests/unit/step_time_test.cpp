#include "sims/system/step_time.h"

#include <catch2/catch.hpp>

#include "alg/generators/generator.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

// MULTITREE on a 2x2 mesh.
std::vector<Cycle> times(Bytes size, const SystemConfig& config,
                         CollectiveOp op = CollectiveOp::all_reduce) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  const Topology mesh = make_mesh({2, 2}, {150'000, 16'000'000'000});
  return step_times(lower_to_tables(find_generator("multitree")->generate(mesh, request)), config,
                    time_links(mesh, config.clock));
}

SystemConfig with(LockstepMode mode, std::uint32_t buffer_flits = 318,
                  FlowControlMode flow_control = FlowControlMode::message) {
  SystemConfig config;
  config.ni.lockstep = mode;
  config.ni.buffer_flits = buffer_flits;
  config.flow_control.mode = flow_control;
  return config;
}

TEST_CASE("The overhead of one hop is 161 cycles by default and the sum of its stages") {
  const auto one_hop = [](const SystemConfig& config, std::uint64_t latency_ps) {
    const Topology pair = make_mesh({2}, {latency_ps, 16'000'000'000});
    const RouteSet routes(pair);
    return idle_overhead(config, time_links(pair, config.clock), routes, RouteId(0));
  };
  SystemConfig config;
  CHECK(one_hop(config, 150'000) == 161);
  CHECK(one_hop(config, 1'000) == 12);
  config.ni.dma_latency_cycles = 10;
  config.ni.injection_cycles = 20;
  config.router.pipeline_cycles = 30;
  config.ni.ejection_cycles = 40;
  config.ni.delivery_cycles = 50;
  CHECK(one_hop(config, 100'000) == 10 + 20 + 2 * 30 + 100 + 40 + 50 - 1);
}

TEST_CASE("A full step through switches passes every router and link on the way") {
  const Topology fat_tree = make_fat_tree(2, 2, 2, {150'000, 16'000'000'000});
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = 4096;
  const SystemConfig config = with(LockstepMode::full);
  const auto full =
      step_times(lower_to_tables(find_generator("direct")->generate(fat_tree, request)), config,
                 time_links(fat_tree, config.clock));
  // Every step has a message from leaf to leaf: five routers, four links.
  CHECK(full == std::vector<Cycle>(3, 65 + 161 + 3 * (2 + 150) + 1));
}

TEST_CASE("A buffer of packets holds their head flits as well, and sub-packets have none") {
  // Sub-packets and packets of 256 bytes of data.
  SystemConfig config = with(LockstepMode::estimate, 3);
  config.ni.buffer_packets = 2;
  CHECK(injection_buffer_flits(config) == 3 + 2 * 16);
  config.flow_control.mode = FlowControlMode::packet;
  CHECK(injection_buffer_flits(config) == 3 + 2 * 17);
  // Chunks of 1024 bytes, 4 packets: 68 flits, of which the buffer holds 37.
  CHECK(times(4096, config) == std::vector<Cycle>(4, 68 - 37));
}

TEST_CASE("Slow links lengthen the step") {
  const Topology pair = make_mesh({2}, {150'000, 8'000'000'000});
  CollectiveRequest request;
  request.op = CollectiveOp::all_gather;
  request.size = 2048;
  const ScheduleTables tables =
      lower_to_tables(find_generator("multitree")->generate(pair, request));
  const auto of = [&](const SystemConfig& config) {
    return step_times(tables, config, time_links(pair, config.clock));
  };
  CHECK(of(with(LockstepMode::estimate)) == std::vector<Cycle>{2 * 65});
  CHECK(of(with(LockstepMode::estimate, 60)) == std::vector<Cycle>{2 * 5});
  CHECK(of(with(LockstepMode::full)) == std::vector<Cycle>{2 * 65 + 161 + 1});
}

TEST_CASE("The estimate is the step's flits while the NI buffer holds them and else the excess") {
  // Chunks of 1024 bytes: 65 flits as messages.
  CHECK(times(4096, with(LockstepMode::estimate, 318)) == std::vector<Cycle>(4, 65));
  CHECK(times(4096, with(LockstepMode::estimate, 66)) == std::vector<Cycle>(4, 65));
  CHECK(times(4096, with(LockstepMode::estimate, 65)) == std::vector<Cycle>(4, 65));
  CHECK(times(4096, with(LockstepMode::estimate, 64)) == std::vector<Cycle>(4, 1));
  CHECK(times(4096, with(LockstepMode::estimate, 1)) == std::vector<Cycle>(4, 64));
}

TEST_CASE("Packets count with their head flits in the estimate") {
  CHECK(times(4096, with(LockstepMode::estimate, 318, FlowControlMode::packet)) ==
        std::vector<Cycle>(4, 4 * 17));
  CHECK(times(4096, with(LockstepMode::estimate, 60, FlowControlMode::packet)) ==
        std::vector<Cycle>(4, 8));
}

TEST_CASE("Modes that do not count have no step time") {
  CHECK(times(4096, with(LockstepMode::off)) == std::vector<Cycle>(4, 0));
  CHECK(times(4096, with(LockstepMode::drain)) == std::vector<Cycle>(4, 0));
}

TEST_CASE("A full step lasts until the next one finds everything in place") {
  // Steps 1 and 2 reduce, 3 and 4 gather; the roots of step 3 read back what step 2 reduced.
  const Cycle hop = 65 + 161 + 1;
  CHECK(times(4096, with(LockstepMode::full)) ==
        std::vector<Cycle>{hop + 1, hop + 1 + 2, hop, hop});
}

TEST_CASE("A full step counts the reductions of the busiest node") {
  SystemConfig config = with(LockstepMode::full);
  config.ni.reduction = {ReductionMode::after_message, 1, 128, 2048};
  // In step 1 each node receives one chunk to reduce, in step 2 two: 16 cycles each.
  const Cycle hop = 65 + 161 + 1;
  CHECK(times(4096, config) == std::vector<Cycle>{hop + 1 + 16, hop + 1 + 32 + 2, hop, hop});
}

TEST_CASE("Without reductions a full step is one hop") {
  CHECK(times(4096, with(LockstepMode::full), CollectiveOp::all_gather) ==
        std::vector<Cycle>(2, 65 + 161 + 1));
}

TEST_CASE("The rules of NIs go with their own lockstep modes, and 2D-RING is posted in halves") {
  const Topology mesh = make_mesh({4, 4}, {150'000, 16'000'000'000});
  const auto rules_of = [&](NiRules rules, LockstepMode mode, const char* algorithm) {
    CollectiveRequest request;
    request.size = 4096;
    RunPoint point;
    point.system = with(mode);
    point.system.ni.rules = rules;
    return authors_rules(point,
                         lower_to_tables(find_generator(algorithm)->generate(mesh, request)));
  };
  using Mode = LockstepMode;
  CHECK_FALSE(rules_of(NiRules::linked, Mode::full, "2d_ring"));
  CHECK_THROWS_AS(rules_of(NiRules::linked, Mode::nop, "ring"), std::invalid_argument);
  CHECK_THROWS_AS(rules_of(NiRules::authors, Mode::drain, "ring"), std::invalid_argument);
  const auto ring = rules_of(NiRules::authors_linked, Mode::off, "2d_ring");
  REQUIRE(ring);
  CHECK_FALSE(ring->takes_any_port);
  CHECK(ring->posted_step == 7);  // of 12
  const auto trees = rules_of(NiRules::authors, Mode::nop, "multitree");
  REQUIRE(trees);
  CHECK(trees->takes_any_port);
  CHECK(trees->posted_step == 0);
}

}  // namespace
}  // namespace espalier
