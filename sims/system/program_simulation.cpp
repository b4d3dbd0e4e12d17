#include "sims/system/program_simulation.h"

#include <algorithm>
#include <memory>

#include "alg/program/connection_routes.h"
#include "ni/engines/program_context_engine.h"
#include "sims/model/build_program.h"
#include "sims/model/faults.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"
#include "sims/system/simulated_system.h"

namespace espalier {

ProtocolSpec protocol_of(const Program& program, const RunPoint& point) {
  const ProgramNiConfig& config = point.system.ni.program;
  ProtocolSpec spec = protocol_spec(program);
  if (program.one_sided) {
    // The peer's memory has room for all messages.
    spec.slots = static_cast<std::uint32_t>(program.num_steps());
    return spec;
  }
  if (config.slots != 0) spec.slots = config.slots;
  if (config.slot_bytes != 0) spec.slot_bytes = config.slot_bytes;
  return spec;
}

Tiling tiling_of(const Program& program, const RunPoint& point) {
  return tile(program, point.collective->size, point.collective->element_bytes,
              protocol_of(program, point).slot_bytes);
}

ContextSpec context_spec(const RunPoint& point) {
  const ProgramNiConfig& config = point.system.ni.program;
  const ServerShape server = server_of(point.system.topology);
  return {config.request_bytes,
          config.requests,
          config.context_bytes_per_cycle,
          config.decode_cycles,
          config.fence_cycles,
          config.doorbell_cycles,
          config.load_cycles_per_step,
          config.network_slot_cycles,
          config.network_receive_cycles,
          server.nics != 0 ? server.nodes : 0};
}

ProgramRoutes program_routes(const Topology& topology, const Program& program,
                             const StreamGroup& group) {
  ProgramRoutes found{RouteSet(topology), {}, {}, {}};
  for (const Connection& connection : connections_of(program)) {
    const NodeId from = group.node(NodeId(connection.from));
    const NodeId to = group.node(NodeId(connection.to));
    const std::uint32_t channel = connection.channel;
    found.forward.push_back(connection_routes(topology, found.routes, from, to, channel));
    found.back.push_back(connection_routes(topology, found.routes, to, from, channel).first);
    for (std::size_t r = 0; r < found.forward.back().size(); ++r) {
      found.used.push_back(found.forward.back().route(r));
    }
  }
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

namespace {

class ProgramRun : public ProgramObserver, public CreditedSender {
 public:
  ProgramRun(const Topology& topology, const RunPoint& point, const Program& program,
             const SimulationHooks& hooks)
      : point_(point),
        routes_(program_routes(topology, program)),
        program_(program, tiling_of(program, point), protocol_of(program, point),
                 context_spec(point), routes_.forward),
        system_(topology, point, routes_.routes, routes_.used,
                ni_ports_for_all_links(topology, point.system), program_.num_operations(), hooks),
        credits_(slot_specs(point, system_.timing(), routes_, program_.protocol().slots)) {
    credits_.connect(*this);
    for (std::size_t c = 0; c < program_.num_connections() && hooks.at_least; ++c) {
      const ProgramRoute& route = program_.route(ConnectionId(c));
      for (std::size_t r = 0; r < route.routes.size(); ++r) {
        system_.expect_on_links(route.routes.route(r), route.bytes[r]);
      }
    }
    load();
  }

  SimulationOutcome run(std::uint32_t root) {
    SimulationOutcome outcome = system_.run(program_.total_bytes());
    if (outcome.complete && outcome.failure.empty()) {
      outcome.failure = check_program_data(program_, memories_, root);
    }
    outcome.verified = outcome.complete && outcome.failure.empty();
    return outcome;
  }

 private:
  void load() {
    const std::size_t ranks = program_.program().ranks.size();
    memories_.reserve(ranks);
    for (std::size_t r = 0; r < ranks; ++r) memories_.emplace_back(program_, NodeId(r));
    std::size_t busy = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const NodeId rank(r);
      auto engine =
          std::make_unique<ProgramContextEngine>(program_, rank, memories_[r], credits_, this);
      if (!engine->done()) ++busy;
      const Cycle start = program_.is_switch(rank) ? 0 : host_delay(point_.faults, rank);
      system_.fabric().ni(rank).load(std::move(engine), memories_[r], start);
    }
    system_.deliveries().expect_programs(busy);
  }

  void program_done(NodeId, Cycle now) override { system_.deliveries().program_done(now); }
  void wake_for_credit(ConnectionId connection, Cycle at) override {
    system_.fabric().ni(NodeId(program_.route(connection).connection.from)).wake_engine(at);
  }

  const RunPoint& point_;
  const ProgramRoutes routes_;
  const ContextProgram program_;
  SimulatedSystem system_;
  SlotCredits credits_;
  std::vector<ProgramMemory> memories_;  // by rank
};

}  // namespace

SimulationOutcome simulate_program(const Topology& topology, const RunPoint& point,
                                   const Program& program, std::uint32_t root,
                                   const SimulationHooks& hooks) {
  return ProgramRun(topology, point, program, hooks).run(root);
}

}  // namespace espalier
