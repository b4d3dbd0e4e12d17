// Injection and ejection ports that are not bound to links, as in the simulator of MultiTree's
// authors. Their numbers are total cycles, which end 148 cycles after the last data have arrived.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "model_test_support.h"
#include "ni/engines/table_program.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::isca21;
using test::kDefaultLink;

constexpr Bytes kKi = 1024;

// Preset isca21_authors.
SystemConfig authors_system(FlowControlMode mode) {
  SystemConfig config = isca21();
  config.flow_control.mode = mode;
  config.router.hold = SwitchHold::flit;
  config.router.vc_order = VcOrder::rotating;
  config.ni.lockstep = LockstepMode::nop;
  config.ni.buffer_flits = 0;
  config.ni.buffer_packets = 53;
  config.ni.rules = NiRules::authors;
  return config;
}

SystemConfig bound(SystemConfig config) {
  config.ni.rules = NiRules::authors_linked;
  return config;
}

SimulationOutcome run_authors(const Topology& topology, Bytes size, const SystemConfig& config,
                              SimulationConfig simulation = {}) {
  CollectiveRequest request;
  request.size = size;
  request.step_end = StepEnd::authors;
  return test::run_tables(topology,
                          lower_to_tables(find_generator("multitree")->generate(topology, request)),
                          config, simulation);
}

TEST_CASE("With ports bound to links, the authors' NI takes their cycles within 0.3 percent",
          "[performance]") {
  struct Row {
    Topology topology;
    FlowControlMode mode;
    Bytes size;
    Cycle theirs;  // to the last data: their rule N
  };
  const Topology torus = make_torus({4, 4}, kDefaultLink);
  const Topology wide = make_torus({8, 8}, kDefaultLink);
  const Topology mesh = make_mesh({4, 4}, kDefaultLink);
  const Row rows[] = {{torus, FlowControlMode::packet, 32 * kKi, 2454},
                      {torus, FlowControlMode::packet, 128 * kKi, 6228},
                      {torus, FlowControlMode::packet, 256 * kKi, 11788},
                      {torus, FlowControlMode::packet, 1024 * kKi, 46140},
                      {torus, FlowControlMode::message, 32 * kKi, 2398},
                      {torus, FlowControlMode::message, 128 * kKi, 5949},
                      {torus, FlowControlMode::message, 1024 * kKi, 43686},
                      {wide, FlowControlMode::packet, 256 * kKi, 10167},
                      {mesh, FlowControlMode::packet, 256 * kKi, 22669},
                      {mesh, FlowControlMode::message, 256 * kKi, 21409}};
  for (const Row& row : rows) {
    CAPTURE(row.topology.name(), row.size, row.theirs);
    const SimulationOutcome outcome =
        run_authors(row.topology, row.size, bound(authors_system(row.mode)));
    CHECK(outcome.verified);
    CHECK(std::abs(static_cast<double>(outcome.cycles) / static_cast<double>(row.theirs) - 1) <
          0.003);
  }
}

TEST_CASE("Lockstep heals conflicts of ports that are not bound to links, and nothing else") {
  const Topology mesh = make_mesh({4, 4}, kDefaultLink);
  const SystemConfig held = authors_system(FlowControlMode::message);
  SystemConfig free = held;
  free.ni.lockstep = LockstepMode::off;
  const Cycle with = run_authors(mesh, 256 * kKi, held).cycles;
  const Cycle without = run_authors(mesh, 256 * kKi, free).cycles;
  // The authors' simulator: 28686 with, 32223 without.
  CHECK(static_cast<double>(without) > 1.02 * static_cast<double>(with));
  // With ports bound to links: 21557 with and without.
  const Cycle bound_with = run_authors(mesh, 256 * kKi, bound(held)).cycles;
  const Cycle bound_without = run_authors(mesh, 256 * kKi, bound(free)).cycles;
  CHECK(std::abs(static_cast<double>(bound_without) / static_cast<double>(bound_with) - 1) < 0.01);
  CHECK(static_cast<double>(with) > 1.3 * static_cast<double>(bound_with));
}

TEST_CASE("The fidelities agree about ports that are not bound to links") {
  for (const Topology& topology :
       {make_torus({4, 4}, kDefaultLink), make_mesh({4, 4}, kDefaultLink)}) {
    for (const FlowControlMode mode : test::kFlowControlModes) {
      SystemConfig config = authors_system(mode);
      config.router.hold = SwitchHold::packet;
      config.router.vc_order = VcOrder::lowest;
      SimulationConfig in_flits;
      in_flits.fidelity = Fidelity::cycle;
      SimulationConfig in_trains;
      in_trains.fidelity = Fidelity::train;
      CAPTURE(topology.name());
      CHECK(run_authors(topology, 256 * kKi, config, in_flits).cycles ==
            run_authors(topology, 256 * kKi, config, in_trains).cycles);
    }
  }
}

TEST_CASE("The second dimension of 2D-RING starts when every node has finished the first") {
  const Topology torus = make_torus({4, 4}, kDefaultLink);
  CollectiveRequest request;
  request.size = 64 * kKi;
  const ScheduleTables tables =
      lower_to_tables(find_generator("2d_ring")->generate(torus, request));
  std::size_t in_first_half = 0;
  for (const TableProgram& program : load_tables(tables)) {
    for (const ProgramEntry& entry : program.entries) {
      if (entry.step <= tables.num_steps / 2) in_first_half += entry.num_sends;
    }
  }
  for (const FlowControlMode mode : test::kFlowControlModes) {
    RunPoint point;
    point.system = test::in_mode(mode);
    point.system.ni.rules = NiRules::authors_linked;
    point.system.ni.lockstep = LockstepMode::off;
    point.collective.emplace();
    std::vector<Cycle> ends;
    for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
      point.simulation.fidelity = fidelity;
      const test::Report report = test::in_child([&] {
        std::vector<std::pair<Cycle, Cycle>> messages;  // issued, delivered
        SimulationHooks hooks;
        hooks.delivered = [&](const Operation& operation, Cycle now) {
          messages.emplace_back(operation.ready, now);
        };
        const Cycle end = simulate_collective(torus, point, tables, hooks).cycles;
        std::sort(messages.begin(), messages.end());
        Cycle first_half_ends = 0;
        for (std::size_t m = 0; m < in_first_half; ++m) {
          first_half_ends = std::max(first_half_ends, messages[m].second);
        }
        return test::Report{{end, first_half_ends, messages.at(in_first_half).first}, {}};
      });
      CHECK(report.numbers.at(2) == report.numbers.at(1) + 1);
      ends.push_back(report.numbers.at(0));
    }
    CHECK(ends.front() == ends.back());
  }
}

TEST_CASE("One port alone leaves no choice, whether or not it is bound to links") {
  const Topology ring = make_torus({4}, kDefaultLink);
  SystemConfig config = authors_system(FlowControlMode::message);
  config.ni.ports = 1;
  const Cycle any = test::run_collective("ring", ring, 64 * kKi, config).cycles;
  CHECK(test::run_collective("ring", ring, 64 * kKi, bound(config)).cycles == any);
}

}  // namespace
}  // namespace espalier
