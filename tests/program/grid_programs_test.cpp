// Built-in all-reduces on tori and meshes.
#include <catch2/catch.hpp>

#include "alg/program/builtin_programs.h"
#include "alg/program/grid_lines.h"
#include "alg/program/program_certifier.h"
#include "program_interpreter.h"
#include "sims/formats/program/msccl_xml.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

using Dims = std::vector<std::uint32_t>;

BuiltinRequest grid_request(const Dims& dims, bool wraps, Bytes size = 4096) {
  BuiltinRequest request;
  request.ranks = 1;
  for (const std::uint32_t extent : dims) request.ranks *= extent;
  request.grid = GridShape{dims, wraps};
  request.size = size;
  request.link = {150'000, 16'000'000'000};
  request.protocol = Protocol::message;
  return request;
}

const BuiltinProgram& builtin_named(const std::string& name) { return *find_builtin_program(name); }

// The messages of all ranks.
std::size_t messages_of(const Program& program) {
  std::size_t messages = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const ThreadBlock& block : rank.blocks) {
      for (const ProgramStep& step : block.steps) {
        if (sends(step.op)) ++messages;
      }
    }
  }
  return messages;
}

}  // namespace

TEST_CASE("Grid programs add up every contribution once, on equal, unequal and odd dimensions") {
  test::ShareOfCases share(13);
  std::size_t num_built = 0;
  for (const BuiltinProgram& builtin : builtin_programs()) {
    if (builtin.protocol != Protocol::message) continue;
    for (const bool wraps : {true, false}) {
      for (const Dims& dims :
           {Dims{2}, Dims{3}, Dims{4}, Dims{7}, Dims{8}, Dims{16}, Dims{2, 2}, Dims{3, 2},
            Dims{4, 3}, Dims{5, 5}, Dims{4, 4}, Dims{1, 6}, Dims{2, 8}, Dims{7, 3}, Dims{2, 3, 4},
            Dims{2, 2, 2}, Dims{4, 2, 8}}) {
        for (const std::uint32_t segments : {0U, 1U, 3U}) {
          for (const Bytes size : {Bytes{512}, Bytes{1} << 20}) {
            BuiltinRequest request = grid_request(dims, wraps, size);
            request.segments = segments;
            if (!builtin.unsuited(request).empty() || !share.take()) continue;
            if (segments != 1 && request.ranks > 16) continue;
            CAPTURE(builtin.name, dims, wraps, segments, size);
            const Program program = builtin.build(request);
            REQUIRE(interpret(program, 2).empty());
            ++num_built;
          }
        }
      }
    }
  }
  CHECK(num_built > (test::kSanitized ? 10 : 150));
}

TEST_CASE("Windows run along rings, and sums from end to end along the lines of the same grid") {
  test::ShareOfCases share(3);
  for (const char* name : {"window", "rs_window_ag"}) {
    for (const auto& wraps : {std::vector<bool>{true, true, false}, {false, true, false}}) {
      for (const Dims& dims : {test::kSanitized ? Dims{3, 2, 3} : Dims{4, 3, 5}, Dims{2, 4, 2}}) {
        if (!share.take()) continue;
        BuiltinRequest request = grid_request(dims, true, 1 << 14);
        request.grid->wraps = wraps;
        CAPTURE(name, dims);
        REQUIRE(builtin_named(name).unsuited(request).empty());
        CHECK(interpret(builtin_named(name).build(request), 2).empty());
      }
    }
  }
}

TEST_CASE("Grid programs say which networks they need") {
  const auto reason = [](const char* name, const BuiltinRequest& request) {
    return builtin_named(name).unsuited(request);
  };
  BuiltinRequest no_grid;
  no_grid.ranks = 12;
  CHECK(reason("window", no_grid) == "needs a torus; the network is no grid");
  CHECK(reason("line", no_grid) == "needs a mesh; the network is no grid");
  CHECK(reason("window", grid_request({4, 4}, false)) ==
        "needs a dimension with rings; line runs on a mesh");
  BuiltinRequest twisted = grid_request({4, 8}, true);
  twisted.grid->twist = {4};
  CHECK(reason("swing_latency", twisted) ==
        "needs a torus; dimension X of the network has twisted rings");
  CHECK(reason("swing_latency", grid_request({4, 4}, false)) ==
        "needs a torus; dimension X of the network has no rings");
  CHECK(reason("line", grid_request({4, 4}, true)) ==
        "needs a mesh; dimension X of the network has rings");
  CHECK(reason("rs_window_ag", grid_request({8, 1}, true)) ==
        "needs a torus with at least two dimensions; window and bidirectional_ring run on a ring");
  CHECK(reason("swing_latency", grid_request({4, 6}, true)) ==
        "needs dimensions that are powers of two");
  CHECK(reason("recursive_doubling", no_grid) == "needs a power of two of ranks; found 12");
  CHECK(reason("window", grid_request({4, 6}, true)).empty());
  BuiltinRequest many = grid_request({4, 6}, true);
  many.segments = 257;
  CHECK(reason("window", many) == "runs with at most 256 segments; found 257");
}

TEST_CASE(
    "A line is summed up in pairs while messages are short, and node by node when they are long") {
  // A row of 8 nodes. In the chain, every link between neighbours carries one message each way: 14.
  // In pairs, 8 messages pass between the nodes of a pair, 6 from pair to pair, and 6 beside them.
  BuiltinRequest request = grid_request({8}, false, 64);
  request.segments = 1;
  CHECK(messages_of(builtin_named("line").build(request)) == 20);
  request.size = 64 << 10;
  request.segments = 32;
  CHECK(messages_of(builtin_named("line").build(request)) == 14 * 32);
}

TEST_CASE("Messages are cut into more segments, the longer they are") {
  const auto segments = [](Bytes size) {
    return cheapest_chain(grid_request({8, 8}, true, size), {2, 4}).segments;
  };
  CHECK(segments(4) == 1);
  CHECK(segments(256) < segments(4096));
  CHECK(segments(64 << 10) == 8);
  BuiltinRequest request = grid_request({8, 8}, true);
  request.segments = 5;
  CHECK(cheapest_chain(request, {2, 4}).segments == 5);
}

TEST_CASE("Grid programs become MSCCL documents with LL128 in place of messages") {
  BuiltinRequest request = grid_request({4, 3}, true);
  request.segments = 1;
  const std::string document = write_msccl_xml(builtin_named("window").build(request));
  CHECK(document.find("proto=\"LL128\"") != std::string::npos);
}

TEST_CASE("Only programs whose ranks add in orders of their own are not identical in every bit") {
  for (const BuiltinProgram& builtin : builtin_programs()) {
    const bool own_orders = builtin.name == "window" || builtin.name == "rs_window_ag" ||
                            builtin.name == "line" || builtin.name == "mscclpp_packets";
    CHECK(builtin.bitwise_identical == !own_orders);
  }
}

TEST_CASE("Local steps stand behind the message whose data they use") {
  // With its local steps elsewhere, a node of a chain would wait for the other direction's message.
  BuiltinRequest request = grid_request({5}, false, 1 << 20);
  request.segments = 4;
  const Program program = builtin_named("line").build(request);
  const RankProgram& middle = program.ranks[2];
  bool found = false;
  for (const ThreadBlock& block : middle.blocks) {
    for (std::size_t s = 1; s < block.steps.size(); ++s) {
      if (block.steps[s].op != ProgramOp::reduce) continue;
      if (block.steps[s - 1].op == ProgramOp::recv) found = true;
    }
  }
  CHECK(found);
}

// A step moves as many chunks as it has; limits of files are those of their formats.
TEST_CASE("Swing halves the data of 256 ranks, so a step has 128 chunks") {
  const BuiltinProgram& swing = builtin_named("swing_bandwidth");
  const Program program = swing.build(grid_request({16, 16}, true));
  ProgramLimits limits;
  limits.form_only = true;
  CHECK(certify_program(program, limits).ok());
}
