// The lower bound of a run's cycles, which `compare` stops losers by.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/model/build_topology.h"
#include "sims/system/program_simulation.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

RunPoint collective_on_torus(const std::string& algorithm, FlowControlMode mode) {
  RunPoint point;
  point.system.topology.type = "torus";
  point.system.topology.set("dims", {4, 4});
  point.system.flow_control.mode = mode;
  point.collective = CollectiveConfig();
  point.collective->algorithm = algorithm;
  point.collective->size = test::kSanitized ? 1 << 18 : 1 << 20;
  return point;
}

}  // namespace

TEST_CASE("No run ends before its lower bound, which a busy link brings near to the end") {
  test::ShareOfCases share(3);
  for (const char* algorithm : {"ring", "direct", "forest", "gc3_allpairs", "recursive_doubling"}) {
    for (const FlowControlMode mode : test::kFlowControlModes) {
      for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
        if (!share.take()) continue;
        CAPTURE(algorithm, mode, fidelity);
        RunPoint point = collective_on_torus(algorithm, mode);
        point.simulation.fidelity = fidelity;
        const Topology topology = build_topology(point.system);
        const test::Numbers bounds =
            test::in_child([&] {
              test::Numbers found;
              SimulationHooks hooks;
              hooks.at_least = [&](Cycle cycles) { found.push_back(cycles); };
              const CollectiveWork work = generate_collective(topology, point);
              const SimulationOutcome outcome =
                  work.program ? simulate_program(topology, point, *work.program, 0, hooks)
                               : simulate_collective(topology, point, *work.tables, hooks);
              found.push_back(outcome.cycles);
              return test::Report{found, {}};
            }).numbers;
        REQUIRE(bounds.size() >= 3);
        for (const std::uint64_t bound : bounds) CHECK(bound <= bounds.back());
        CHECK(bounds.front() > bounds.back() / 4);
      }
    }
  }
}
