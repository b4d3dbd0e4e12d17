// The simulation of a collective program, executed by the contexts of all NIs: their parameters,
// and the routes of their messages and credits.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/program/program.h"
#include "alg/program/protocol.h"
#include "alg/routes/route_set.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/engines/context_program.h"
#include "ni/engines/slot_credits.h"
#include "ni/engines/stream_engine.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunPoint;

// The program's protocol with the point's settings, and the cutting of its data into passes.
[[nodiscard]] ProtocolSpec protocol_of(const Program& program, const RunPoint& point);
[[nodiscard]] Tiling tiling_of(const Program& program, const RunPoint& point);
[[nodiscard]] ContextSpec context_spec(const RunPoint& point);

struct ProgramRoutes {
  RouteSet routes;
  std::vector<ConnectionRoutes> forward;  // by connection
  std::vector<RouteId> back;              // by connection; the way of its credits
  std::vector<RouteId> used;              // ascending
};
// Rank r of the program is member r of the group.
[[nodiscard]] ProgramRoutes program_routes(const Topology& topology, const Program& program,
                                           const StreamGroup& group);
// The same if it is a node.
[[nodiscard]] inline ProgramRoutes program_routes(const Topology& topology,
                                                  const Program& program) {
  return program_routes(topology, program, StreamGroup(topology.num_nodes()));
}

// By connection. A freed slot is reported to the sender's NI with the latency that a message has on
// the idle way back.
[[nodiscard]] std::vector<SlotCredits::Spec> slot_specs(const RunPoint& point,
                                                        const SystemTiming& timing,
                                                        const ProgramRoutes& routes,
                                                        std::uint32_t slots);

// Preconditions: the program has as many ranks as the topology has nodes, and is certified, or at
// least well-formed. Broadcast and reduce use `root`. Throws std::invalid_argument if the
// configuration cannot be built.
[[nodiscard]] SimulationOutcome simulate_program(const Topology& topology, const RunPoint& point,
                                                 const Program& program, std::uint32_t root,
                                                 const SimulationHooks& hooks);

}  // namespace espalier
