// All-reduces of small data on tori and meshes: right data, certified, equal cycles in both
// fidelities, and as fast as the cycle counts with which they were proposed.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "sims/choose/certify_point.h"
#include "sims/model/build_program.h"
#include "sims/model/build_topology.h"
#include "sims/system/program_simulation.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

RunPoint grid_point(const char* kind, const std::vector<std::uint32_t>& dims,
                    const std::string& algorithm, Bytes size) {
  RunPoint point;
  point.system.topology.type = kind;
  point.system.topology.set("dims", {dims.begin(), dims.end()});
  point.collective.emplace();
  point.collective->algorithm = algorithm;
  point.collective->size = size;
  return point;
}

Cycle small_cycles(const RunPoint& point) {
  const Topology topology = build_topology(point.system);
  const Program program = build_program(topology, point);
  const ProgramCertificate certificate = certify_program_point(topology, point, program);
  CHECK(certificate.ok());
  const SimulationOutcome outcome =
      test::outcome_of([&] { return simulate_program(topology, point, program, 0, {}); });
  CHECK(outcome.failure == "");
  CHECK(outcome.verified);
  return outcome.cycles;
}

TEST_CASE("Grid programs end alike in both fidelities, on equal, unequal and odd dimensions") {
  using Dims = std::vector<std::uint32_t>;
  test::ShareOfCases share(3);
  const auto check = [&](const char* kind, const Dims& dims, const std::string& algorithm) {
    const FlowControlMode modes[] = {FlowControlMode::packet, FlowControlMode::message};
    for (const std::size_t i : {0U, 1U}) {
      if (!share.take()) continue;
      RunPoint point = grid_point(kind, dims, algorithm, i == 0 ? 20 : 3000);
      point.system.flow_control.mode = modes[i];
      CAPTURE(dims, algorithm, i);
      point.simulation.fidelity = Fidelity::train;
      const Cycle train = small_cycles(point);
      point.simulation.fidelity = Fidelity::cycle;
      CHECK(small_cycles(point) == train);
    }
  };
  for (const char* algorithm : {"window", "rs_window_ag"}) {
    for (const Dims& dims : {Dims{3, 3}, Dims{4, 2}, Dims{5, 3}, Dims{2, 3, 2}}) {
      check("torus", dims, algorithm);
    }
  }
  for (const Dims& dims : {Dims{3, 3}, Dims{4, 2}, Dims{5, 1}, Dims{2, 3, 2}}) {
    check("mesh", dims, "line");
  }
  for (const char* algorithm : {"swing_latency", "swing_bandwidth", "recursive_doubling"}) {
    check("torus", {4, 2}, algorithm);
  }
}

TEST_CASE("Small all-reduces take as few cycles as proposed, on an 8x8 torus and an 8x8 mesh",
          "[slow]") {
  struct Case {
    const char* kind;
    const char* algorithm;
    Bytes kib;
    Cycle most;
  };
  for (const Case& c :
       {Case{"torus", "window", 1, 1432}, Case{"torus", "window", 4, 1864},
        Case{"torus", "rs_window_ag", 8, 2280}, Case{"torus", "rs_window_ag", 16, 2624},
        Case{"mesh", "line", 1, 2359}, Case{"mesh", "line", 16, 3267}}) {
    RunPoint point = grid_point(c.kind, {8, 8}, c.algorithm, c.kib << 10);
    point.system.flow_control.mode = FlowControlMode::message;
    CAPTURE(c.algorithm, c.kib);
    CHECK(small_cycles(point) <= c.most);
  }
}

}  // namespace
}  // namespace espalier
