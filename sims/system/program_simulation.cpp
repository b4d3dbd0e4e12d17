#include "sims/system/program_simulation.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "alg/program/connection_routes.h"
#include "ni/program_context_engine.h"
#include "sims/config/faults.h"
#include "sims/system/simulated_system.h"
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

namespace {

struct ProgramRoutes {
  RouteSet routes;
  std::vector<RouteId> forward;  // by connection
  std::vector<RouteId> back;     // of credits
  std::vector<RouteId> used;     // ascending
};

ProgramRoutes routes_of(const Topology& topology, const Program& program) {
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

std::uint32_t ports_of(const Topology& topology, const RunPoint& point) {
  if (point.system.ni.ports != 0) return point.system.ni.ports;
  std::size_t most = 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    most = std::max(most, topology.out_links(NodeId(n)).size());
  }
  return static_cast<std::uint32_t>(most);
}

class ProgramRun : public ProgramObserver, public CreditedSender {
 public:
  ProgramRun(const Topology& topology, const RunPoint& point, const Program& program,
             const SimulationHooks& hooks)
      : point_(point),
        routes_(routes_of(topology, program)),
        program_(program, tiling_of(program, point), protocol_of(program, point),
                 context_spec(topology, point), routes_.forward),
        system_(topology, point, routes_.routes, routes_.used, ports_of(topology, point),
                program_.num_operations(), no_posts_, hooks),
        credits_(slot_specs()) {
    credits_.connect(*this);
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
  static ContextSpec context_spec(const Topology& topology, const RunPoint& point) {
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
            cluster ? cluster->gpus_per_server : 0};
  }

  // A freed slot is told to the sender's NI: by what its message would meet on the idle way back.
  std::vector<SlotCredits::Spec> slot_specs() {
    std::vector<SlotCredits::Spec> specs;
    const ProgramNiConfig& config = point_.system.ni.program;
    for (const RouteId back : routes_.back) {
      const Cycle path = idle_overhead(point_.system, system_.timing(), routes_.routes, back) -
                         point_.system.ni.dma_latency_cycles;
      specs.push_back(
          {program_.protocol().slots, config.credit_cycles != 0 ? config.credit_cycles : path});
    }
    return specs;
  }

  void load() {
    const std::size_t ranks = program_.program().num_ranks();
    memories_.reserve(ranks);
    for (std::size_t r = 0; r < ranks; ++r) memories_.emplace_back(program_, NodeId(r));
    std::size_t busy = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const NodeId rank(r);
      auto engine =
          std::make_unique<ProgramContextEngine>(program_, rank, memories_[r], credits_, *this);
      if (!engine->done()) ++busy;
      system_.fabric().ni(rank).load(std::move(engine), memories_[r],
                                     host_delay(point_.faults, rank));
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
  const std::vector<PostedCollective> no_posts_;
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
