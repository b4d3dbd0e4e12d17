#include <catch2/catch.hpp>

#include <sstream>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

TEST_CASE("run --csv writes a line per result with the same numbers as --json") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string csv = folder.file("results.csv");
  const test::Json results =
      test::run_to_json({config, "-s", "collective.size=[4KiB, 8KiB]", "--csv", csv}).at("results");
  std::istringstream lines(test::read_text(csv));
  std::string header;
  std::getline(lines, header);
  CHECK_THAT(header, Contains("algorithm,op,topology,nodes,size_bytes,") && !Contains("host"));
  for (const test::Json& result : results) {
    std::string line;
    REQUIRE(std::getline(lines, line));
    CHECK_THAT(
        line,
        Contains("multitree,all_reduce,mesh 2x2,4," + result.at("size_bytes").dump() + ",") &&
            Contains("," + result.at("cycles").dump() + "," + result.at("time_ns").dump() + ","));
  }
  std::string rest;
  CHECK_FALSE(std::getline(lines, rest));
}

TEST_CASE("A CSV tells rows of several files and of several designs apart") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string other =
      folder.write("other.yaml",
                   "system:\n  topology: {type: mesh, dims: [2, 2]}\n"
                   "  router: {vcs: 2}\ncollective: {algorithm: multitree, size: 4KiB}\n");
  const Outcome files = test::espalier({"run", config, other, "--csv", "-"});
  CHECK_THAT(files.out, Contains("system.router.vcs,algorithm,") && Contains("\n4,multitree,") &&
                            Contains("\n2,multitree,"));
  const std::string traffic = folder.write("traffic.yaml",
                                           "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                           "traffic: {measure_cycles: 500}\n");
  const Outcome designs = test::espalier(
      {"latency", traffic, "-s", "system.router.vcs=[2,4]", "--loads", "0.1", "--csv", "-"});
  CHECK_THAT(designs.out, Contains("system.router.vcs,") && Contains("\n2,") && Contains("\n4,"));
}

TEST_CASE("run --csv - leaves stdout to the CSV, and does not share it") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome = test::espalier({"run", config, "--csv", "-"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.rfind("algorithm,op,", 0) == 0);
  CHECK_THAT(outcome.err, Contains("GB/s"));
  const Outcome both = test::espalier({"run", config, "--csv", "-", "--json", "-"});
  CHECK(both.exit_code == 2);
  CHECK(both.out.empty());
  CHECK_THAT(both.err, Contains("only one of the two outputs can go to stdout"));
  const Outcome nowhere = test::espalier({"run", config, "--csv", folder.file("missing/a.csv")});
  CHECK(nowhere.exit_code == 2);
  CHECK_THAT(nowhere.err, Contains("missing/a.csv: error: cannot be written"));
}
