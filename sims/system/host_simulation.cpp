#include "sims/system/host_simulation.h"

#include <stdexcept>

#include "sims/point/config.h"
#include "sims/system/simulated_system.h"

namespace espalier {

namespace {

void refuse_what_hosts_do(const RunPoint& point) {
  if (point.control) {
    throw std::invalid_argument("hosts that send messages cannot run with section control");
  }
  if (!point.faults.late_nis.empty() || !point.faults.clock_skew.empty()) {
    throw std::invalid_argument(
        "hosts that post collectives cannot run with late NIs or skewed clocks");
  }
}

}  // namespace

HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point, HostProgram& hosts,
                             const TablesOfSize& tables_of, const SimulationHooks& hooks) {
  std::vector<NodeId> nodes;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) nodes.emplace_back(n);
  return simulate_hosts(topology, point, nodes, hosts, tables_of, hooks);
}

HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point,
                             const std::vector<NodeId>& nodes, HostProgram& hosts,
                             const TablesOfSize& tables_of, const SimulationHooks& hooks) {
  refuse_what_hosts_do(point);
  const std::vector<PostedCollective> no_posts;
  const RouteSet no_routes(topology);
  SimulatedSystem system(topology, point, no_routes, {},
                         ni_ports_for_all_links(topology, point.system), 0, no_posts, hooks);
  HostNetwork network(topology, point, system, nodes, hosts, tables_of);
  network.start();
  HostedOutcome outcome;
  SimulationOutcome& simulation = outcome.simulation;
  simulation = system.run(0);
  if (!network.failure().empty()) simulation.failure = network.failure();
  simulation.verified = simulation.complete && simulation.failure.empty();
  outcome.collectives = network.collectives();
  outcome.host_messages = network.num_messages();
  return outcome;
}

}  // namespace espalier
