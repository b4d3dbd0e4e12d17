// A mesh under random traffic with a router of our own at r_1_1, and if a file is named, with
// waveforms of it and its network interface: own_router [WAVES.vcd].
#include <cstdio>
#include <memory>
#include <optional>

#include "hw/clock/clock_domain.h"
#include "own_router.h"
#include "sims/model/build_topology.h"
#include "sims/observe/scopes/wave_session.h"
#include "sims/point/config.h"
#include "sims/system/elaboration.h"
#include "sims/system/simulation.h"

using namespace espalier;

int sc_main(int argc, char** argv) {
  prepare_kernel();
  RunPoint point;  // every key of a configuration, with its default
  point.system.topology.type = "mesh";
  point.system.topology.set("dims", {4, 4});
  point.system.topology.external.routers = {"r_1_1"};
  point.traffic.emplace();
  point.traffic->injection_rate = 0.2;
  point.traffic->warmup_cycles = 0;
  point.traffic->measure_cycles = 2000;

  std::unique_ptr<OwnRouter> router;
  SimulationHooks hooks;
  hooks.elaborate = [&](Elaboration& elaboration) {
    RouterSignals& place = elaboration.router("r_1_1");
    router = std::make_unique<OwnRouter>("own_router", place);
    router->bind(elaboration.clock(), place);
    // A signal of our own beside those of the ports.
    elaboration.show("r_1_1", {"flits_passed", 32, [&router] { return router->flits_passed; }});
  };
  std::optional<WaveSession> waves;
  if (argc == 2) {
    WaveRequest request{argv[1], {"net.r_1_1", "net.ni_1_1"}, {}, point.system.clock.hertz, true};
    hooks.observers.push_back(&waves.emplace(request));
  }
  const Topology topology = build_topology(point.system);
  const SimulationOutcome outcome = simulate_traffic(topology, point, hooks);
  if (!outcome.verified) {
    std::fprintf(stderr, "%s\n", outcome.failure.c_str());
    return 1;
  }
  std::printf("%llu messages delivered, %.1f cycles on average, %llu flits through own_router\n",
              static_cast<unsigned long long>(outcome.traffic->messages),
              outcome.traffic->mean_cycles, static_cast<unsigned long long>(router->flits_passed));
  return 0;
}
