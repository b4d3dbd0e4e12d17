// A job whose hosts post collectives and tell each other things while the network is simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/system/host_network.h"
#include "sims/system/simulation.h"
#include "sims/workload/coordination/host_services.h"

namespace espalier {

struct HostedOutcome {
  // `cycles`: from the start to the last event. Counts of messages and bytes, and `latency`, are
  // those of collectives.
  SimulationOutcome simulation;
  std::vector<HostedCollective> collectives;  // by number
  std::uint64_t host_messages = 0;
};

// Ranks are nodes. `tables_of` is called while the simulation runs, when a size comes first or
// after many others; what it throws is a failure of the simulation. An NI has a port for every link
// where the point does not say how many. Throws std::invalid_argument where the configuration
// cannot be built, or where it has control messages, late NIs or skewed clocks: hosts have timing
// and messages of their own.
[[nodiscard]] HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point,
                                           HostProgram& hosts, const TablesOfSize& tables_of,
                                           const SimulationHooks& hooks);
// The same with ranks elsewhere: `nodes` by rank, every node once.
[[nodiscard]] HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point,
                                           const std::vector<NodeId>& nodes, HostProgram& hosts,
                                           const TablesOfSize& tables_of,
                                           const SimulationHooks& hooks);

}  // namespace espalier
