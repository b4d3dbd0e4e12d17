// External routers and NIs in whole runs: run_point(), and the runs that cannot have them.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "signal_systems.h"
#include "sims/experiment/point_runner.h"
#include "sims/model/build_topology.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;

RunPoint grid_point(const std::string& algorithm) {
  RunPoint point;
  point.system.topology.type = "torus";
  point.system.topology.set("dims", {4, 4});
  point.collective.emplace();
  point.collective->algorithm = algorithm;
  point.collective->size = 64 * 1024;
  return point;
}

// Numbers: cycles. Text: the failure.
test::Report run_whole(const RunPoint& point) {
  return test::in_child([&] {
    test::SignalRouters routers(point.system.topology.external);
    SimulationHooks hooks;
    hooks.elaborate = [&](Elaboration& elaboration) {
      routers.attach(elaboration);
      for (const std::string& node : point.system.topology.external.nis) {
        static_cast<void>(elaboration.ni(node));
      }
    };
    const PointReport report = run_point(build_topology(point.system), point, std::nullopt, hooks);
    const bool has_cycles = report.failure.empty();
    return test::Report{{has_cycles ? report.result.at("cycles").get<std::uint64_t>() : 0},
                        report.failure};
  });
}

TEST_CASE("A whole run with a router behind signals has the result of a built-in one") {
  for (const char* algorithm : {"multitree", "ring", "2d_ring"}) {
    RunPoint point = grid_point(algorithm);
    const test::Report built_in = run_whole(point);  // packet trains
    point.system.topology.external.routers = {"r_2_1"};
    const test::Report external = run_whole(point);
    CAPTURE(algorithm, external.text);
    CHECK(external.text == "");
    CHECK(external.numbers == built_in.numbers);
    CHECK(external.numbers.front() > 0);
  }
}

TEST_CASE("A collective program passes a router behind signals") {
  RunPoint point = grid_point("line");
  const test::Report built_in = run_whole(point);
  point.system.topology.external.routers = {"r_2_1"};
  const test::Report external = run_whole(point);
  CHECK(external.text == "");
  CHECK(external.numbers == built_in.numbers);
}

TEST_CASE("An external NI is refused where no table says what it sends, or NIs hold Reduces") {
  for (const char* algorithm : {"2d_ring", "halving_doubling"}) {
    RunPoint point = grid_point(algorithm);
    point.system.topology.external.nis = {"r_2_1"};
    CAPTURE(algorithm);
    CHECK_THAT(run_whole(point).text, Contains("hold early Reduces"));
  }
  RunPoint point = grid_point("line");
  point.system.topology.external.nis = {"r_2_1"};
  CHECK_THAT(run_whole(point).text, Contains("only a collective with schedule tables"));
}

}  // namespace
}  // namespace espalier
