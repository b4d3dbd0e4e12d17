// A foreign initiator at node r_0_0 of a configured system writes 4 KiB to every other node:
// tlm_initiator CONFIG. With traffic.pattern: sockets it is alone; beside a collective it shares
// the network.
#include <cstdio>
#include <memory>

#include "hw/clock/clock_domain.h"
#include "initiator.h"
#include "sims/config/reader.h"
#include "sims/experiment/point_runner.h"
#include "sims/system/elaboration.h"

using namespace espalier;

int sc_main(int argc, char** argv) {
  prepare_kernel();
  const ConfigResult config = read_run_config(argc == 2 ? argv[1] : "sockets.yaml");
  std::fputs(config.diagnostics.c_str(), stderr);
  if (!config.ok) return 2;
  const Topology& topology = *config.topology;

  std::unique_ptr<Initiator> initiator;
  SimulationHooks hooks;
  hooks.elaborate = [&](Elaboration& elaboration) {
    std::vector<std::uint64_t> to;
    for (std::size_t n = 1; n < topology.num_nodes(); ++n) to.push_back(std::uint64_t{n} << 32U);
    initiator =
        std::make_unique<Initiator>("initiator", to, 4096, sc_core::sc_time(300, sc_core::SC_NS));
    initiator->socket.bind(elaboration.tlm("0").target);
  };
  hooks.delivered = [](const Operation& operation, Cycle now) {
    if (operation.num_chunks != 0) return;  // of the collective
    std::printf("%zu %llu\n", operation.to.index(), static_cast<unsigned long long>(now));
  };
  const PointReport report = run_point(topology, config.points.front(), std::nullopt, hooks);
  std::fprintf(stderr, "%s\n", report.failure.c_str());
  std::printf("verified: %s\n", report.failure.empty() ? "true" : "false");
  return report.failure.empty() ? 0 : 1;
}
