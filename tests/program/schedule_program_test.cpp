#include "alg/program/schedule_program.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/generators/rank_shapes.h"
#include "alg/schedule/schedule_table.h"
#include "program_interpreter.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

constexpr LinkSpec kLink{};  // without rates: planned schedules do not suit
constexpr LinkSpec kTimedLink{150'000, 16'000'000'000};

std::vector<std::pair<std::string, Topology>> networks(LinkSpec link) {
  std::vector<std::pair<std::string, Topology>> result;
  result.emplace_back("torus 4x4", make_torus({4, 4}, link));
  result.emplace_back("torus 3x3", make_torus({3, 3}, link));
  result.emplace_back("mesh 3x2", make_mesh({3, 2}, link));
  result.emplace_back("fully connected 5", make_fully_connected(5, link));
  result.emplace_back("switch 6", make_single_switch(6, link));
  result.emplace_back("fat tree", make_fat_tree(4, 2, 2, link));
  return result;
}

Schedule generate(const Generator& generator, const Topology& topology, CollectiveOp op,
                  Bytes size) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  request.base = smallest_bcube_base(topology.num_nodes());
  return generator.generate(topology, request);
}

}  // namespace

TEST_CASE("Every generated schedule with equal chunks becomes a program that computes the same") {
  std::size_t expressed = 0;
  std::vector<std::string> refused;
  test::ShareOfCases share(11);
  for (const auto& [network, topology] : networks(kLink)) {
    for (const Generator& generator : generators()) {
      if (!generator.unsuited(topology).empty()) continue;
      for (const CollectiveOp op : generator.ops) {
        if (has_counts(op)) continue;  // no program computes it
        for (const std::uint32_t instances : {1U, 2U}) {
          INFO(generator.name << " on " << network << ", " << to_string(op));
          ScheduleProgramOptions options;
          options.instances = instances;
          const auto result =
              program_of_schedule(generate(generator, topology, op, 48000), options);
          REQUIRE(result.program.has_value() == result.reason.empty());
          if (!result.program) {
            refused.push_back(generator.name + " on " + network + ": " + result.reason);
            continue;
          }
          ++expressed;
          if (share.take()) REQUIRE(interpret(*result.program, 2).empty());
          REQUIRE(result.program->collective == op);
        }
      }
    }
  }
  const std::string unequal =
      "2d_ring on mesh 3x2: a program's chunks have equal sizes, but the schedule's chunks have "
      "4000 to 8000 bytes";
  REQUIRE(refused == std::vector<std::string>(2, unequal));
  REQUIRE(expressed > 200);
}

TEST_CASE("Planned tables become a program, though they stand in the order of slots in one step") {
  std::size_t expressed = 0;
  test::ShareOfCases share(5);
  for (const auto& [network, topology] : networks(kTimedLink)) {
    for (const char* name : {"forest", "a2a_paths"}) {
      const Generator& generator = *find_generator(name);
      for (const CollectiveOp op : generator.ops) {
        if (has_counts(op)) continue;  // no program computes it
        INFO(name << " on " << network << ", " << to_string(op));
        const ScheduleTables tables =
            lower_to_tables(generate(generator, topology, op, Bytes{1} << 18));
        REQUIRE(tables.listed_order);
        const auto result = program_of_schedule(raise_from_tables(topology, tables));
        if (!result.program) {
          // Not because of the order.
          CHECK_THAT(result.reason, Catch::Matchers::StartsWith("a program's chunks have equal"));
          continue;
        }
        ++expressed;
        if (share.take()) CHECK(interpret(*result.program, 2).empty());
      }
    }
  }
  CHECK(expressed > 12);
}

TEST_CASE("A schedule of empty chunks cannot become a program") {
  const Topology torus = make_torus({4, 4}, kLink);
  const Schedule schedule =
      generate(*find_generator("ring"), torus, CollectiveOp::all_reduce, 4 * 7);
  const auto result = program_of_schedule(schedule);
  REQUIRE_FALSE(result.program);
  REQUIRE(result.reason == "a chunk of the schedule is empty, because the size is too small");
}
