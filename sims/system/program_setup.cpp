#include "sims/system/program_setup.h"

#include <algorithm>

#include "alg/program/connection_routes.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"
#include "sims/system/step_time.h"

namespace espalier {

ProtocolSpec protocol_of(const Program& program, const RunPoint& point) {
  const ProgramNiConfig& config = point.system.ni.program;
  ProtocolSpec spec = protocol_spec(program.protocol);
  if (config.slots != 0) spec.slots = config.slots;
  if (config.slot_bytes != 0) spec.slot_bytes = config.slot_bytes;
  return spec;
}

Tiling tiling_of(const Program& program, const RunPoint& point) {
  return tile(program, point.collective->size, point.collective->element_bytes,
              protocol_of(program, point).slot_bytes);
}

ContextSpec context_spec(const Topology& topology, const RunPoint& point) {
  const ProgramNiConfig& config = point.system.ni.program;
  const auto& cluster = topology.cluster();
  return {config.request_bytes,
          config.requests,
          config.context_bytes_per_cycle,
          config.decode_cycles,
          config.fence_cycles,
          config.doorbell_cycles,
          config.load_cycles_per_step,
          config.network_slot_cycles,
          config.network_receive_cycles,
          cluster ? cluster->gpus_per_server : 0};
}

ProgramRoutes program_routes(const Topology& topology, const Program& program) {
  ProgramRoutes found{RouteSet(topology), {}, {}, {}};
  for (const Connection& connection : connections_of(program)) {
    const NodeId from(connection.from);
    const NodeId to(connection.to);
    const std::uint32_t channel = connection.channel;
    found.forward.push_back(
        found.routes.add(topology, connection_route(topology, from, to, channel)));
    found.back.push_back(found.routes.add(topology, connection_route(topology, to, from, channel)));
  }
  found.used = found.forward;
  std::sort(found.used.begin(), found.used.end());
  found.used.erase(std::unique(found.used.begin(), found.used.end()), found.used.end());
  return found;
}

std::vector<SlotCredits::Spec> slot_specs(const RunPoint& point, const SystemTiming& timing,
                                          const ProgramRoutes& routes, std::uint32_t slots) {
  std::vector<SlotCredits::Spec> specs;
  const ProgramNiConfig& config = point.system.ni.program;
  for (const RouteId back : routes.back) {
    const Cycle path = idle_overhead(point.system, timing, routes.routes, back) -
                       point.system.ni.dma_latency_cycles;
    specs.push_back({slots, config.credit_cycles != 0 ? config.credit_cycles : path});
  }
  return specs;
}

}  // namespace espalier
