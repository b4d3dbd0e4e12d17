#include "sims/system/program_simulation.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ni/engines/program_context_engine.h"
#include "sims/model/faults.h"
#include "sims/point/config.h"
#include "sims/system/program_setup.h"
#include "sims/system/simulated_system.h"

namespace espalier {

namespace {

class ProgramRun : public ProgramObserver, public CreditedSender {
 public:
  ProgramRun(const Topology& topology, const RunPoint& point, const Program& program,
             const SimulationHooks& hooks)
      : point_(point),
        routes_(program_routes(topology, program)),
        program_(program, tiling_of(program, point), protocol_of(program, point),
                 context_spec(topology, point), routes_.forward),
        system_(topology, point, routes_.routes, routes_.used,
                ni_ports_for_all_links(topology, point.system), program_.num_operations(),
                no_posts_, hooks),
        credits_(slot_specs(point, system_.timing(), routes_, program_.protocol().slots)) {
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
