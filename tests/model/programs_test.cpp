// Collective programs on the contexts of NIs: closed forms of their timing, right data, and equal
// cycles in both fidelities.
#include <catch2/catch.hpp>
#include <random>

#include "flowctl/framing.h"
#include "hand_programs.h"
#include "sims/model/build_topology.h"
#include "sims/model/idle_times.h"
#include "sims/system/fabric.h"
#include "sims/system/step_time.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::one_send;
using test::ProgramResult;
using test::ring_program;
using test::run_by_hand;
using test::step_of;

RunPoint point_of(Bytes size, Fidelity fidelity = Fidelity::train) {
  RunPoint point;
  point.system.topology.type = "switch";
  point.system.topology.set("nodes", {2});
  point.collective.emplace();
  point.collective->size = size;
  point.collective->algorithm = "program";
  point.simulation.fidelity = fidelity;
  return point;
}

ProgramResult run(const RunPoint& point, const Program& program) {
  return run_by_hand(build_topology(point.system), point, program);
}

// From the issue of a message at node 0 to its visibility at node 1, over an idle network.
Cycle flight(const RunPoint& point, Bytes bytes) {
  const Topology topology = build_topology(point.system);
  const SystemTiming timing = time_links(topology, point.system.clock);
  RouteSet routes(topology);
  const RouteId route = routes.add(topology, route_packet(topology, NodeId(0), NodeId(1)));
  const Cycle flits = Framing(framing_spec(point.system), bytes).flits();
  return idle_overhead(point.system, timing, routes, route) + flits;
}

// As one_send(), with a context and a channel for each chunk.
Program one_send_of(std::uint32_t contexts) {
  Program program = one_send(contexts);
  program.num_channels = contexts;
  for (RankProgram& rank : program.ranks) {
    const ThreadBlock block = rank.blocks[0];
    rank.blocks.clear();
    for (std::uint32_t c = 0; c < contexts; ++c) {
      rank.blocks.push_back({block.send_peer, block.recv_peer, c, 0, {block.steps[c]}});
    }
  }
  return program;
}

TEST_CASE("One chunk takes decoding, the fence, the flight of its message, and a look") {
  for (const Cycle fence : {0U, 1U, 70U}) {
    for (const Cycle decode : {1U, 9U}) {
      for (const Bytes size : {4U, 256U, 1000U, 4096U}) {
        RunPoint point = point_of(size);
        point.system.ni.program.fence_cycles = fence;
        point.system.ni.program.decode_cycles = decode;
        const ProgramResult result = run(point, one_send());
        CAPTURE(fence, decode, size, result.failure);
        CHECK(result.verified);
        CHECK(result.cycles == decode + fence + flight(point, size) + 1);
      }
    }
  }
}

TEST_CASE("LL doubles the bytes of a message and has no fence, LL128 adds a sixteenth") {
  Program program = one_send();
  RunPoint point = point_of(15 * 256);
  program.protocol = Protocol::ll;
  CHECK(run(point, program).cycles == 1 + flight(point, 2 * 15 * 256) + 1);
  program.protocol = Protocol::ll128;
  CHECK(run(point, program).cycles == 1 + flight(point, 16 * 256) + 1);
}

TEST_CASE("A call pays its doorbell and the load of its steps before it begins") {
  RunPoint point = point_of(256);
  const Cycle without = run(point, one_send(3)).cycles;
  point.system.ni.program.doorbell_cycles = 1000;
  point.system.ni.program.load_cycles_per_step = 10;
  CHECK(run(point, one_send(3)).cycles == without + 1000 + 3 * 10);
}

TEST_CASE("A second call begins at a rank when the first has ended there, and is launched again") {
  RunPoint point = point_of(256);
  point.system.ni.program.doorbell_cycles = 500;
  Program twice = one_send();
  for (RankProgram& rank : twice.ranks) {
    ThreadBlock again = rank.blocks[0];
    again.call = 1;
    rank.blocks.push_back(again);
  }
  const Cycle once = run(point, one_send()).cycles;
  // The receiver's first call ends when its message is there, the sender's when it has left.
  CHECK(run(point, twice).cycles > once + 500);
  CHECK(run(point, twice).verified);
}

TEST_CASE("A context moves what it sends and receives at its rate, as it is on the wire") {
  RunPoint point = point_of(4096);
  Program program = one_send();
  const Cycle simple = run(point, program).cycles;
  program.protocol = Protocol::ll;
  const Cycle ll = run(point, program).cycles;
  point.system.ni.program.context_bytes_per_cycle = 2;
  CHECK(run(point, program).cycles == ll + 2 * 2 * 4096 / 2);
  program.protocol = Protocol::simple;
  CHECK(run(point, program).cycles == simple + 2 * 4096 / 2);
}

TEST_CASE("Slots to another server are posted one after the other; slots within a server are not") {
  RunPoint point = point_of(256);
  point.system.topology.type = "gpu_cluster";
  point.system.topology.set("gpus_per_server", {1});
  point.system.topology.set("servers", {2});
  const auto post = [&](Cycle cycles) {
    point.system.ni.program.network_slot_cycles = cycles;
    return run(point, one_send()).cycles;
  };
  CHECK(post(700) == post(0) + 700);
  point.system.topology.set("gpus_per_server", {2});
  point.system.topology.set("servers", {1});
  CHECK(post(700) == post(0));
}

TEST_CASE("A proxy takes its time for each slot from another server, one after the other") {
  RunPoint point = point_of(256);
  point.system.topology.type = "gpu_cluster";
  point.system.topology.set("gpus_per_server", {1});
  point.system.topology.set("servers", {2});
  const auto receive = [&](Cycle cycles, std::uint32_t contexts) {
    point.system.ni.program.network_receive_cycles = cycles;
    point.collective->size = 256 * contexts;
    const Program program = one_send_of(contexts);
    Cycle cycles_of[2];
    for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
      point.simulation.fidelity = fidelity;
      const ProgramResult result = run(point, program);
      CHECK(result.verified);
      cycles_of[fidelity == Fidelity::cycle ? 1 : 0] = result.cycles;
    }
    CHECK(cycles_of[0] == cycles_of[1]);
    return cycles_of[0];
  };
  CHECK(receive(700, 1) == receive(0, 1) + 700);
  // Three slots arrive within a few cycles, and the proxy handles them in turn.
  CHECK(receive(700, 3) >= receive(700, 1) + 2 * 700);
  CHECK(receive(700, 3) <= receive(0, 3) + 3 * 700);
  point.system.topology.set("gpus_per_server", {2});
  point.system.topology.set("servers", {1});
  CHECK(receive(700, 1) == receive(0, 1));
}

TEST_CASE("With one request at a time a context cannot fill a link, and two contexts move twice") {
  const auto cycles = [](std::uint32_t requests, std::uint32_t contexts) {
    RunPoint point = point_of(1 << 20);
    point.system.ni.dma_latency_cycles = 1000;
    point.system.ni.program.request_bytes = 4096;
    point.system.ni.program.requests = requests;
    const Program program = one_send_of(contexts);
    const ProgramResult result = run(point, program);
    CHECK(result.verified);
    return result.cycles;
  };
  // 256 requests of 4 KiB (273 cycles of the link with their heads) behind 1000 cycles of memory.
  const Cycle one = cycles(1, 1);
  CHECK(one > 256 * 1250);
  CHECK(cycles(1, 2) < one * 52 / 100);
  const Cycle filled = cycles(8, 1);
  CHECK(filled > 65536);
  CHECK(filled < 65536 * 115 / 100);
}

TEST_CASE("Forwarding from the slot moves half of what receiving and sending again moves") {
  const auto cycles = [](bool fused) {
    RunPoint point = point_of(1 << 20);
    point.system.topology.set("nodes", {3});
    point.system.ni.program.memory_bytes_per_cycle = 4;  // the bottleneck: a link moves 16
    Program program = test::program_of(CollectiveOp::broadcast, 3, 1);
    program.ranks[0].blocks.push_back({1, kNoPeer, 0, 0, {step_of(ProgramOp::send, 0, 0)}});
    program.ranks[2].blocks.push_back({kNoPeer, 1, 0, 0, {step_of(ProgramOp::recv, 0, 0)}});
    ThreadBlock middle{2, 0, 0, 0, {}};
    if (fused) {
      middle.steps = {step_of(ProgramOp::recv_copy_send, 0, 0)};
    } else {
      middle.steps = {step_of(ProgramOp::recv, 0, 0), step_of(ProgramOp::send, 0, 0)};
    }
    program.ranks[1].blocks.push_back(middle);
    const ProgramResult result = run(point, program);
    CHECK(result.verified);
    return result.cycles;
  };
  // Fused: the pieces pass through while they come. Else: all in, then all out.
  const Cycle fused = cycles(true);
  CHECK(fused > 262144);
  CHECK(fused < 262144 * 12 / 10);
  CHECK(cycles(false) > 2 * 262144);
  CHECK(cycles(false) < 2 * 262144 * 12 / 10);
}

TEST_CASE("A sender is ahead of its receiver by at most the number of slots") {
  const auto cycles = [](std::uint32_t slots) {
    RunPoint point = point_of(1 << 20);
    point.system.ni.program.slots = slots;
    point.system.ni.program.slot_bytes = 1024;
    return run(point, one_send()).cycles;
  };
  // 1024 tiles; with one slot each goes there and its credit back.
  RunPoint point = point_of(1 << 20);
  CHECK(cycles(1) > 1024 * flight(point, 1024));
  CHECK(cycles(2) < cycles(1) * 55 / 100);
  CHECK(cycles(64) < cycles(1) / 4);
}

TEST_CASE("A fence begins when the data of its slot have left, whatever their size") {
  const auto cycles = [](Bytes size, Cycle fence) {
    RunPoint point = point_of(size);
    point.system.ni.program.fence_cycles = fence;
    return run(point, one_send()).cycles;
  };
  for (const Bytes size : {Bytes{65536}, Bytes{65540}, Bytes{1} << 20}) {
    CHECK(cycles(size, 1000) >= cycles(size, 0) + 1000);
  }
  CHECK(cycles(65540, 100) >= cycles(65536, 100));
}

TEST_CASE("If a message is never sent, the watchdog's report names the waiting contexts") {
  RunPoint point = point_of(256);
  Program program = one_send();
  program.ranks[0].blocks[0].steps.clear();
  const ProgramResult result = run(point, program);
  CHECK_FALSE(result.verified);
  CHECK_THAT(result.failure, Catch::Contains("no progress") && Catch::Contains("ctx0") &&
                                 Catch::Contains("step 0 (r)"));
}

TEST_CASE("A chunk that is written to the wrong place is found by the memory check") {
  Program program = ring_program(3);
  program.ranks[1].blocks[0].steps.back().dst_offset = 1;
  RunPoint point = point_of(1200);
  point.system.topology.set("nodes", {3});
  const ProgramResult result = run(point, program);
  CHECK_FALSE(result.verified);
  CHECK_THAT(result.failure, Catch::Contains("wrong data at rank 1"));
}

TEST_CASE("Rings of programs end in the same cycle in both fidelities, asleep or not") {
  std::mt19937_64 random(20261122);
  const auto draw = [&](std::uint64_t low, std::uint64_t high) {
    return low + random() % (high - low + 1);
  };
  for (int c = 0; c < (test::kSanitized ? 16 : 60); ++c) {
    RunPoint point = point_of(4 * draw(1, 20000));
    const auto ranks = static_cast<std::uint32_t>(draw(2, 6));
    SystemConfig& system = point.system;
    system.topology.set("nodes", {ranks});
    if (draw(0, 2) == 0) {
      system.topology.type = "torus";
      system.topology.set("dims", {ranks, 1});
    }
    system.link.latency_ps = 1000 * draw(1, 200);
    system.link.bytes_per_second = 1'000'000'000 * draw(3, 16);
    system.ni.dma_latency_cycles = draw(1, 60);
    system.ni.reduction.latency_cycles = draw(1, 9);
    if (draw(0, 1) == 0) system.ni.reduction.bytes_per_cycle = draw(2, 64);
    system.flow_control.mode = draw(0, 1) == 0 ? FlowControlMode::packet : FlowControlMode::message;
    ProgramNiConfig& ni = system.ni.program;
    // With a single slot a ring of forwarding steps waits for itself.
    ni.slots = static_cast<std::uint32_t>(draw(2, 4));
    ni.slot_bytes = draw(64, 8192);
    ni.request_bytes = draw(16, 4096);
    ni.requests = static_cast<std::uint32_t>(draw(1, 4));
    ni.memory_bytes_per_cycle = draw(0, 1) == 0 ? 0 : draw(4, 64);
    ni.fence_cycles = draw(0, 50);
    ni.doorbell_cycles = draw(0, 50);
    Program program = ring_program(ranks, static_cast<std::uint32_t>(draw(1, 3)));
    program.protocol = static_cast<Protocol>(draw(0, 2));
    CAPTURE(c, ranks, point.collective->size, ni.slots, ni.slot_bytes, ni.request_bytes);
    const ProgramResult train = run(point, program);
    INFO(train.failure);
    CHECK(train.verified);
    point.simulation.fidelity = Fidelity::cycle;
    const ProgramResult cycle = run(point, program);
    CHECK(cycle.verified);
    CHECK(cycle.cycles == train.cycles);
    point.simulation.always_clocked = true;
    if (c % 8 == 0) CHECK(run(point, program).cycles == train.cycles);
  }
}

}  // namespace
}  // namespace espalier
