#include "alg/program/builtin_programs.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "program_interpreter.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

TEST_CASE("Every built-in program computes its collective at every supported size") {
  test::ShareOfCases share(61);
  for (const BuiltinProgram& builtin : builtin_programs()) {
    for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
      for (std::uint32_t per_server = 1; per_server <= (builtin.parameter(kServersKey) ? ranks : 1);
           ++per_server) {
        for (const std::uint32_t channels : {1U, 3U}) {
          for (const std::uint32_t instances : {1U, 2U, 3U}) {
            for (const Protocol protocol : {Protocol::simple, Protocol::ll}) {
              const BuiltinRequest request{ranks, per_server, channels, instances, protocol};
              if (channels > 1 && !builtin.parameter(kChannelsKey)) continue;
              if (!builtin.unsuited(request).empty() || !share.take()) continue;
              INFO(builtin.name << " ranks " << ranks << " per server " << per_server
                                << " channels " << channels << " instances " << instances << " "
                                << to_string(protocol));
              const Program program = builtin.build(request);
              REQUIRE(interpret(program, 2).empty());
            }
          }
        }
      }
    }
  }
}

TEST_CASE("A ring is one block per channel and instance, and fused from end to end") {
  BuiltinRequest request;
  request.ranks = 8;
  request.channels = 2;
  request.instances = 3;
  const Program program = find_builtin_program("gc3_ring")->build(request);
  REQUIRE(program.num_channels == 6);
  REQUIRE(program.chunks == 24);
  for (const RankProgram& rank : program.ranks) REQUIRE(rank.blocks.size() == 6);
  // 2R - 2 messages of each chunk pass 2R - 1 instructions.
  REQUIRE(program.num_steps() == 24 * 15);
}

TEST_CASE("A two-step all_to_all crosses between servers in one message per pair of ranks") {
  BuiltinRequest request;
  request.ranks = 8;
  request.ranks_per_server = 4;
  const Program program = find_builtin_program("gc3_twostep_alltoall")->build(request);
  for (std::uint32_t r = 0; r < 8; ++r) {
    for (const ThreadBlock& block : program.ranks[r].blocks) {
      for (const ProgramStep& step : block.steps) {
        if (step.op != ProgramOp::send) continue;
        const bool crosses = static_cast<std::uint32_t>(block.send_peer) / 4 != r / 4;
        REQUIRE(step.count == (crosses ? 4U : 1U));
      }
    }
  }
}

TEST_CASE("Rotated rings cross between servers at every rank") {
  BuiltinRequest request;
  request.ranks = 8;
  request.ranks_per_server = 4;
  request.channels = 4;
  const Program program = find_builtin_program("gc3_ring_rotated")->build(request);
  for (std::uint32_t r = 0; r < 8; ++r) {
    std::uint32_t crossings = 0;
    for (const ThreadBlock& block : program.ranks[r].blocks) {
      if (static_cast<std::uint32_t>(block.send_peer) / 4 != r / 4) ++crossings;
    }
    REQUIRE(program.ranks[r].blocks.size() == 4);
    REQUIRE(crossings == 1);
  }
}

// The ranks of server 0 that send to, and receive from, another server, by channel.
std::vector<std::pair<std::uint32_t, std::uint32_t>> gates_of(const Program& program,
                                                              std::uint32_t per_server) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> gates(program.num_channels);
  for (std::uint32_t r = 0; r < per_server; ++r) {
    for (const ThreadBlock& block : program.ranks[r].blocks) {
      const auto outside = [&](std::int64_t peer) {
        return peer != kNoPeer && static_cast<std::uint32_t>(peer) >= per_server;
      };
      if (outside(block.send_peer)) gates[block.channel].first = r;
      if (outside(block.recv_peer)) gates[block.channel].second = r;
    }
  }
  return gates;
}

TEST_CASE(
    "Where ranks share NICs, NCCL's rings enter a server beside its NICs, in both directions") {
  BuiltinRequest request;
  request.ranks = 8;
  request.ranks_per_server = 4;
  request.channels = 4;
  using Gates = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  for (const char* name : {"nccl_ring", "nccl_allgather"}) {
    CAPTURE(name);
    request.nics_per_server = 2;
    CHECK(gates_of(find_builtin_program(name)->build(request), 4) ==
          Gates{{3, 0}, {0, 3}, {3, 0}, {0, 3}});
    // A NIC for each rank: a ring for each of them.
    for (const std::uint32_t nics : {0U, 4U, 3U}) {
      request.nics_per_server = nics;
      CHECK(gates_of(find_builtin_program(name)->build(request), 4) ==
            Gates{{3, 0}, {0, 1}, {1, 2}, {2, 3}});
    }
  }
}

TEST_CASE("Where ranks share NICs, the chains of NCCL's trees begin beside the NICs") {
  BuiltinRequest request;
  request.ranks = 8;
  request.ranks_per_server = 4;
  request.channels = 4;
  request.nics_per_server = 2;
  const Program program = find_builtin_program("nccl_tree")->build(request);
  for (const auto& [sends, receives] : gates_of(program, 4)) {
    CHECK(sends == receives);
    CHECK(sends % 2 == 0);
  }
}

TEST_CASE("A request that a built-in program does not support is refused with the reason") {
  const auto reason = [](const char* name, const BuiltinRequest& request) {
    return find_builtin_program(name)->unsuited(request);
  };
  BuiltinRequest request;
  request.ranks = 6;
  REQUIRE(reason("gc3_ring", request).empty());
  REQUIRE(reason("gc3_halving_doubling", request) == "needs a power of two of ranks; found 6");
  REQUIRE(reason("gc3_hierarchical", request) ==
          "needs at least two ranks per server: set collective.program.ranks_per_server");
  // All data to all ranks of a "server" of one rank would be all data to all ranks.
  REQUIRE(reason("mscclpp_packets", request) ==
          "needs at least two ranks per server: set collective.program.ranks_per_server");
  request.ranks_per_server = 4;
  REQUIRE(reason("gc3_hierarchical", request) ==
          "needs servers of equal size, but 6 ranks are not a multiple of 4 ranks per server");
  request.ranks_per_server = 6;
  REQUIRE(reason("gc3_twostep_alltoall", request) == "needs at least two servers");
  REQUIRE(reason("mscclpp_packets", request).empty());
  request.channels = 7;
  REQUIRE(reason("gc3_ring", request) ==
          "spreads its 6 chunks over at most as many channels; found 7 channels");
  request.channels = 0;
  REQUIRE(reason("gc3_ring", request) == "needs at least one channel");
  request.channels = 1;
  request.instances = 0;
  REQUIRE(reason("gc3_allpairs", request) == "needs at least one instance");
  request.instances = 33;
  REQUIRE(reason("gc3_allpairs", request) == "runs as at most 32 instances; found 33");
  request.instances = 1;
  request.ranks = 1;
  REQUIRE(reason("gc3_allpairs", request) == "needs at least two ranks");
  request.ranks = 257;
  REQUIRE(reason("gc3_allpairs", request) == "runs on at most 256 ranks; found 257 ranks");
  REQUIRE(find_builtin_program("gc3_rong") == nullptr);
}
