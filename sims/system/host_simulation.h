// A job whose hosts post collectives and exchange messages while the network is simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/system/simulation.h"
#include "sims/system/stream_programs.h"
#include "sims/workload/graph/alike_blocks.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

struct RunPoint;

// A collective as its hosts and its network saw it, in cycles.
struct HostedCollective {
  HostCollective what;
  Cycle first_post = kNever;  // earliest of all ranks
  Cycle last_post = 0;
  Cycle first_issue = kNever;
  Cycle last_visible = 0;  // reduction included; 0: not complete
};

struct HostedOutcome {
  // `cycles` is the time from the start to the last event. Counts of messages and bytes, and
  // `latency`, include only collectives.
  SimulationOutcome simulation;
  std::vector<HostedCollective> collectives;  // by number
  std::uint64_t host_messages = 0;
  // StreamPrograms::keep_to_packet_routes(), as long as blocks are not unfolded.
  bool keep_to_packet_routes = true;
  Bytes most_held_bytes = 0;  // NetworkInterface::most_held_bytes() of the NI that held the most
};

// `tables_of` is called while the simulation runs, when a collective is posted for the first time,
// or again after its tables were dropped; an exception from it is a failure of the simulation. If
// the point does not set the number of NI ports, an NI has a port for every link. Of `blocks`, only
// the first one runs unless `hosts` unfold them; counts are those of all. Throws
// std::invalid_argument if the configuration cannot be built, or if it has control messages, late
// NIs or skewed clocks, because hosts have messages and timing of their own.
[[nodiscard]] HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point,
                                           const JobRanks& ranks, HostProgram& hosts,
                                           const TablesOf& tables_of, const SimulationHooks& hooks,
                                           const std::vector<AlikeBlock>& blocks = {});

}  // namespace espalier
