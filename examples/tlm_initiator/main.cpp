// A foreign initiator at node r_0_0 of an 8x8 torus writes 4 KiB to every other node.
#include <cstdio>
#include <memory>

#include "hw/clock/clock_domain.h"
#include "initiator.h"
#include "sims/model/build_topology.h"
#include "sims/point/config.h"
#include "sims/system/elaboration.h"
#include "sims/system/simulation.h"

using namespace espalier;

int sc_main(int, char**) {
  prepare_kernel();
  RunPoint point;  // every key of a configuration, with its default
  point.system.topology.type = "torus";
  point.system.topology.set("dims", {8, 8});
  point.traffic.emplace();
  point.traffic->pattern = TrafficPattern::sockets;
  const Topology topology = build_topology(point.system);

  std::unique_ptr<Initiator> initiator;
  SimulationHooks hooks;
  hooks.elaborate = [&](Elaboration& elaboration) {
    std::vector<std::uint64_t> to;
    for (std::size_t n = 1; n < topology.num_nodes(); ++n) to.push_back(std::uint64_t{n} << 32U);
    initiator =
        std::make_unique<Initiator>("initiator", to, 4096, sc_core::sc_time(300, sc_core::SC_NS));
    initiator->socket.bind(elaboration.tlm("r_0_0").target);
  };
  hooks.delivered = [](const Operation& operation, Cycle now) {
    std::printf("%zu %llu\n", operation.to.index(), static_cast<unsigned long long>(now));
  };
  const SimulationOutcome outcome = simulate_traffic(topology, point, hooks);
  if (outcome.verified) return 0;
  std::fprintf(stderr, "%s\n", outcome.failure.c_str());
  return 1;
}
