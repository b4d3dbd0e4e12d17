// Faulty hardware as users ask for it: in a file, on the command line, along a sweep's axis.
#include <catch2/catch.hpp>

#include <string>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;

namespace {

const std::string kExample = ESPALIER_SOURCE_DIR "/configs/faults/slow_link.yaml";

}  // namespace

TEST_CASE("Where random stalls may outlast the watchdog, it does not claim a deadlock") {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", test::kSmallConfig);
  const Outcome stalled =
      test::espalier({"run", config, "-s", "simulation.stall_probability=0.999999"});
  CHECK(stalled.exit_code == 1);
  CHECK_THAT(stalled.err,
             Contains("no progress at cycle") && Contains("this need not be a deadlock"));
  const Outcome deadlock =
      test::espalier({"run", ESPALIER_SOURCE_DIR "/configs/coordination/deadlock.yaml"});
  CHECK(deadlock.exit_code == 1);
  CHECK_THAT(deadlock.err, !Contains("need not be"));
}

TEST_CASE("A slow link slows the run down and leaves schedule, bound and certificate alone") {
  const Json faulty = test::run_to_json({kExample});
  const Json healthy = test::run_to_json({kExample, "-s", "faults.slow_links=none"});
  CHECK(faulty.at("config").at("faults").at("slow_links").at(0).at("from") == "r_3_3");
  CHECK_FALSE(healthy.at("config").contains("faults"));
  REQUIRE(faulty.at("results").size() == 2);
  REQUIRE(healthy.at("results").size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& slow = faulty.at("results").at(i);
    const Json& good = healthy.at("results").at(i);
    CHECK(slow.at("verified") == true);
    CHECK(slow.at("cycles") > good.at("cycles"));
    for (const char* key :
         {"certified", "contention_free", "timesteps", "bound_ns", "messages", "flit_hops"}) {
      CAPTURE(key);
      CHECK(slow.at(key) == good.at(key));
    }
    CHECK(slow.at("config_hash") != good.at("config_hash"));
  }
}

TEST_CASE("Every fault ends in the same cycle in both fidelities, asleep or not") {
  const auto cycles = [](const std::string& setting) {
    return test::run_to_json({kExample, "-s", "collective.size=64KiB", "-s",
                              "faults.late_nis=[{node: 5, cycles: 2000}]", "-s",
                              "faults.clock_skew=[{node: 9, cycles: 40}]", "-s",
                              "faults.dma_jitter.max_cycles=20", "-s",
                              "faults.dma_jitter.nodes=[3, 9, 60]", "-s", setting})
        .at("results")
        .at(0)
        .at("cycles");
  };
  const Json train = cycles("simulation.fidelity=train");
  CHECK(train > 0);
  CHECK(cycles("simulation.fidelity=cycle") == train);
  CHECK(cycles("simulation.always_clocked=true") == train);
}

TEST_CASE("A fault that is misspelt on the command line is pointed at") {
  const Outcome outcome =
      test::espalier({"run", kExample, "-s", "faults.late_nis=[{node: 64, cycles: 1}]"});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("faults.late_nis: there is no node 64; the network has 64 nodes") &&
                 Contains("hint: write a number from 0 to 63"));
  CHECK_THAT(test::espalier({"run", kExample, "-s", "faults.late_ni=none"}).err,
             Contains("did you mean 'faults.late_nis'?"));
}
