// Plans of multi-dimensional systems from the command line.
#include <catch2/catch.hpp>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// Themis's Fig. 5 in small: dim1 twice as fast as dim2, four chunks.
constexpr const char* kPlanExample =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions:\n"
    "    shape: [switch, switch]\n"
    "    size: [4, 4]\n"
    "    bandwidth: [32GB/s, 16GB/s]\n"
    "    latency: [50ns, 50ns]\n"
    "collective: {op: all_reduce, algorithm: themis, size: 64KiB, chunks: 4}\n";

std::string write_example(const TemporaryFolder& folder) {
  return folder.write("example.yaml", kPlanExample);
}

}  // namespace

TEST_CASE("check certifies a plan and says what each dimension carries") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"check", write_example(folder)});
  INFO(outcome.out);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("themis all_reduce on ") && Contains(": certified\n"));
  CHECK_THAT(outcome.out, Contains("4 chunks over 2 dimensions; about "));
  CHECK_THAT(outcome.out, Contains("dim1: switch of 4, halving_doubling; an NPU sends "));
  CHECK_THAT(outcome.out, Contains("dim2: switch of 4, halving_doubling; an NPU sends "));
  // Fig. 7: 3.25 and 3.5 units; a unit is 12 KiB at 32 GB/s.
  CHECK_THAT(outcome.out, Contains("predicted load 1.248 us") && Contains("1.344 us"));
}

TEST_CASE("check goes through all points of a file, planned or not") {
  const TemporaryFolder folder;
  const Outcome outcome =
      test::espalier({"check", write_example(folder), "-s",
                      "collective.algorithm=[baseline, themis]", "-s", "collective.chunks=[1, 4]"});
  INFO(outcome.out);
  CHECK(outcome.exit_code == 0);
  std::size_t certified = 0;
  for (std::size_t at = 0; (at = outcome.out.find(": certified", at)) != std::string::npos; ++at) {
    ++certified;
  }
  CHECK(certified == 4);
}

TEST_CASE("A plan is shown chunk by chunk and start by start") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"schedule", write_example(folder)});
  INFO(outcome.out);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, StartsWith("themis all_reduce of 65536 B on "));
  CHECK_THAT(outcome.out, Contains("    0  16384  RS 1 2 | AG 2 1\n") &&
                              Contains("    1  16384  RS 2 1 | AG 1 2\n") &&
                              Contains("    3  16384  RS 1 2 | AG 2 1\n"));
  CHECK_THAT(outcome.out, Contains("\ndim1 starts RS ") && Contains("\ndim2 starts RS 1, "));
}

TEST_CASE("A plan without an enforced order has no starts") {
  const TemporaryFolder folder;
  const std::string config = write_example(folder);
  const std::string free_choice = "system.ni.dimension_queue.enforce_order=false";
  const Outcome outcome = test::espalier({"schedule", config, "-s", free_choice});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, !Contains("starts RS"));
  CHECK_THAT(outcome.out,
             Contains("every NPU starts the stages of a dimension as they become ready: scf"));
}

TEST_CASE("A plan has no transfers to draw and is no program") {
  const TemporaryFolder folder;
  const std::string config = write_example(folder);
  for (const char* format : {"json", "tree-svg", "msccl-xml"}) {
    const Outcome outcome = test::espalier({"schedule", config, "-f", format});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err,
               Contains("has no transfers to show as") && Contains("allowed is table"));
  }
}

TEST_CASE("The table has the utilization of plans, and the queue if several are compared") {
  const TemporaryFolder folder;
  const std::string config = write_example(folder);
  const Outcome one = test::espalier({"run", config});
  INFO(one.out);
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.out, Contains("  util  ") && !Contains("steps") && !Contains("  queue"));
  const Outcome several =
      test::espalier({"run", config, "-s", "system.ni.dimension_queue.order=[fifo, scf]", "-s",
                      "system.ni.dimension_queue.in_flight=[1, 8]"});
  INFO(several.out);
  CHECK(several.exit_code == 0);
  CHECK_THAT(several.out, Contains("  queue  ") && Contains("  fifo  ") && Contains("  scf ") &&
                              Contains("in flight"));
}

TEST_CASE("The example of a late node completes with one order for all, and only with it") {
  const std::string config = std::string(ESPALIER_SOURCE_DIR) + "/configs/themis/late_node.yaml";
  const Json results = test::run_to_json({config}).at("results");
  REQUIRE(results.size() == 2);
  for (const Json& result : results) CHECK(result.at("verified") == true);
  const Outcome stuck =
      test::espalier({"run", config, "-s", "system.ni.dimension_queue.enforce_order=false"});
  INFO(stuck.err);
  CHECK(stuck.exit_code == 1);
  CHECK_THAT(stuck.err, Contains("point 2: no progress at cycle") &&
                            Contains("these modules wait for each other in a cycle:\n  net.ni_") &&
                            Contains("already has 1 stage in flight"));
}

TEST_CASE("run names the reason why all NPUs are simulated and not one for all") {
  const TemporaryFolder folder;
  const std::string file = write_example(folder);
  const Outcome folded = test::espalier({"run", file});
  CHECK_THAT(folded.err, !Contains("note"));
  const Outcome in_full = test::espalier({"run", file, "-s", "collective.size=1000B"});
  CHECK(in_full.exit_code == 0);
  CHECK_THAT(in_full.err, Contains("simulates all 16 NPUs instead of one NPU for all because of "
                                   "collective.parts (chunks do not divide into equal parts"));
}

TEST_CASE("Plans whose order of starts is not enforced are not certified free of deadlock") {
  const std::string late = ESPALIER_SOURCE_DIR "/configs/themis/late_node.yaml";
  const std::vector<std::string> free{"-s", "system.ni.dimension_queue.enforce_order=false"};
  const Outcome checked = test::espalier({"check", late, free[0], free[1]});
  CHECK(checked.exit_code == 0);
  CHECK_THAT(checked.out, Contains("deadlock is possible") && !Contains(": certified"));
}

TEST_CASE("A run that did not end has no time, no bandwidth and no speed") {
  const std::string late = ESPALIER_SOURCE_DIR "/configs/themis/late_node.yaml";
  const Outcome outcome = test::espalier(
      {"run", late, "-s", "system.ni.dimension_queue.enforce_order=false", "--json", "-"});
  CHECK(outcome.exit_code == 1);
  const Json results = Json::parse(outcome.out).at("results");
  REQUIRE(!results.empty());
  for (const Json& result : results) {
    CHECK(result.at("verified") == false);
    CHECK(result.at("certified").is_null());
    for (const char* key : {"cycles", "time_ns", "bandwidth_GBps", "bound_ratio", "utilization"}) {
      CAPTURE(key);
      CHECK(result.at(key).is_null());
    }
  }
  CHECK_THAT(outcome.err, Contains("no progress at cycle") && !Contains("x  "));
}

TEST_CASE("One point that cannot be run leaves the results of the others") {
  const TemporaryFolder folder;
  const std::string file = write_example(folder);
  const Outcome outcome =
      test::espalier({"run", file, "-s", "simulation.fold=on", "-s", "collective.chunks=[4, 8]",
                      "--messages", folder.file("messages.csv"), "--json", "-"});
  CHECK(outcome.exit_code == 1);
  const Json results = Json::parse(outcome.out).at("results");
  REQUIRE(results.size() == 2);
  CHECK_THAT(results[0].at("failure").get<std::string>(),
             Contains("one NPU cannot be simulated for all NPUs with --messages"));
}
