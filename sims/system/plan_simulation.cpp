#include "sims/system/plan_simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "ni/aggregation_memory.h"
#include "ni/dimension_queue_engine.h"
#include "ni/folded_memory.h"
#include "ni/stage_observer.h"
#include "ni/switch_aggregation_engine.h"
#include "sims/system/check_data.h"
#include "sims/system/folding.h"
#include "sims/system/simulated_system.h"
#include "sims/system/step_time.h"

namespace espalier {

namespace {

class StageLog : public StageObserver {
 public:
  void ready(StageRef stage, Cycle now) override { ready_[{stage.chunk, stage.stage}] = now; }
  void started(StageRef stage, Cycle now) override {
    place_[{stage.chunk, stage.stage}] = spans_.size();
    spans_.push_back({stage, ready_[{stage.chunk, stage.stage}], now, now});
  }
  void ended(StageRef stage, Cycle now) override {
    spans_[place_[{stage.chunk, stage.stage}]].end = now;
  }
  [[nodiscard]] std::vector<StageSpan> take() { return std::move(spans_); }

 private:
  using Name = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Name, Cycle> ready_;
  std::map<Name, std::size_t> place_;  // in spans_
  std::vector<StageSpan> spans_;
};

}  // namespace

ForecastSpec forecast_spec(const Topology& topology, const RunPoint& point,
                           const DimensionPlan& plan) {
  const SystemTiming timing = time_links(topology, point.system.clock);
  const DimensionRoutes routes(topology, plan.dimensions);
  const DimensionedShape& shape = *topology.dimensions();
  const DimensionQueueConfig& queue = point.system.ni.dimension_queue;
  ForecastSpec spec;
  spec.arbiter = queue.arbiter;
  spec.flight = queue.flight();
  spec.arbitration = queue.arbitration_cycles;
  spec.reduction = point.system.ni.reduction.latency_cycles;
  for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
    const DimensionSpec& dimension = shape.dimensions[d];
    const RouteId route = routes.bundle(NodeId(0), d, 0, 1).first;
    const LinkId link = routes.routes().link(route, 0);
    ForecastDimension forecast;
    forecast.shape = dimension.shape;
    forecast.links = dimension.parallel_links();
    const FramingSpec framing = framing_spec(point.system, dimension);
    forecast.flit_bytes = framing.flit_bytes;
    forecast.payload_bytes = framing.payload_bytes;
    forecast.message_mode = framing.message_mode;
    forecast.ticks_per_flit = timing.links[link.index()].ticks_per_flit;
    forecast.ticks_per_cycle = timing.ticks_per_cycle;
    forecast.overhead = idle_overhead(point.system, timing, routes.routes(), route);
    if (dimension.one_switch) {
      forecast.overhead_to_switch = forecast.overhead;
      forecast.overhead = idle_overhead(point.system, timing, routes.routes(),
                                        routes.from_switch(NodeId(0), d).first);
    }
    spec.dimensions.push_back(forecast);
  }
  return spec;
}

namespace {

// What one NPU did, said of all.
void scale(SimulationOutcome& outcome, std::uint64_t nodes) {
  outcome.flit_hops *= nodes;
  outcome.link_conflicts *= nodes;
  outcome.flits_injected *= nodes;
  outcome.head_flits *= nodes;
  outcome.latency.messages *= nodes;
}

bool is_folded(const RunPoint& point, const PlanLayout& layout, const SimulationHooks& hooks) {
  if (point.simulation.fold == Folding::off) return false;
  const std::string obstacle = folding_obstacle(point, layout, static_cast<bool>(hooks.delivered));
  if (!obstacle.empty() && point.simulation.fold == Folding::on) {
    throw std::invalid_argument("simulation.fold: one NPU does not stand for all: " + obstacle);
  }
  return obstacle.empty();
}

std::vector<NodeMemory> memories_before(const DimensionPlan& plan, const PlanLayout& layout) {
  std::vector<NodeMemory> memories;
  memories.reserve(plan.num_nodes());
  for (std::size_t n = 0; n < plan.num_nodes(); ++n) {
    memories.emplace_back(NodeId(n), plan.op, layout.pieces());
  }
  return memories;
}

// The units of switches that add and copy, with programs loaded.
class AggregationUnits {
 public:
  AggregationUnits(const Topology& topology, const DimensionProgram& program, Fabric& fabric) {
    for (std::size_t v = topology.num_nodes(); v < topology.num_vertices(); ++v) {
      const NodeId vertex(v);
      if (!topology.aggregates(vertex)) continue;
      const LinkId link = topology.out_links(vertex).front();
      if (topology.is_folded()) {
        memories_.push_back(std::make_unique<FoldedSwitchMemory>(program));
      } else {
        memories_.push_back(std::make_unique<SwitchMemory>());
      }
      AggregationMemory& memory = *memories_.back();
      fabric.aggregation_unit(vertex).load(
          std::make_unique<SwitchAggregationEngine>(program, vertex, topology.dimension_of(link),
                                                    topology.link(link).to, memory),
          memory);
    }
  }

 private:
  std::vector<std::unique_ptr<AggregationMemory>> memories_;
};

PlanOutcome simulate_program(const Topology& topology, const RunPoint& point,
                             const DimensionProgram& program, const SimulationHooks& hooks) {
  const DimensionPlan& plan = program.plan();
  PlanOutcome outcome;
  outcome.folded = topology.is_folded();
  outcome.equal_parts = program.layout().equal_parts();
  outcome.bytes_sent.resize(plan.dimensions.size(), 0);
  SimulationHooks counting = hooks;
  counting.delivered = [&](const Operation& operation, Cycle now) {
    const StageRef stage = program.place_of(operation.flow).stage;
    // What switches send is no NPU's.
    if (!topology.is_switch(operation.from)) {
      outcome.bytes_sent[program.stage(stage).dimension] += operation.bytes;
    }
    if (hooks.delivered) hooks.delivered(operation, now);
  };
  const std::vector<PostedCollective> no_posts;
  const auto ports = static_cast<std::uint32_t>(topology.out_links(NodeId(0)).size());
  std::vector<NodeMemory> memories = memories_before(plan, program.layout());
  FoldedMemory folded_memory(program, memories);
  SimulatedSystem system(topology, point, program.routes().routes(), program.routes().used(), ports,
                         program.num_operations(), no_posts, counting);
  const DimensionQueueConfig& queue = point.system.ni.dimension_queue;
  const DimensionQueueEngine::Spec spec{queue.arbiter, queue.flight(), queue.arbitration_cycles};
  StageLog log;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId node(n);
    auto engine = std::make_unique<DimensionQueueEngine>(program, node, spec);
    if (n == 0) engine->observe(log);
    DataMemory& memory = outcome.folded ? static_cast<DataMemory&>(folded_memory) : memories[n];
    system.fabric().ni(node).load(std::move(engine), memory, start_of(point.simulation, node));
  }
  AggregationUnits units(topology, program, system.fabric());
  outcome.simulation = system.run(program.total_bytes());
  outcome.stages = log.take();
  SimulationOutcome& simulation = outcome.simulation;
  if (outcome.folded) {
    scale(simulation, plan.num_nodes());
    for (Bytes& bytes : outcome.bytes_sent) bytes *= plan.num_nodes();
  }
  if (simulation.complete && simulation.failure.empty()) {
    simulation.failure = check_data(memories, plan.op, program.layout().pieces());
  }
  simulation.verified = simulation.complete && simulation.failure.empty();
  return outcome;
}

}  // namespace

PlanOutcome simulate_plan(const Topology& topology, const RunPoint& point,
                          const DimensionPlan& plan, const SimulationHooks& hooks) {
  const CollectiveConfig& collective = *point.collective;
  const PlanLayout layout(plan, *topology.dimensions(), collective.element_bytes, collective.parts);
  if (is_folded(point, layout, hooks)) {
    const Topology folded = make_folded(topology.dimensions()->dimensions);
    const DimensionProgram program(folded, plan, collective.element_bytes, collective.parts);
    return simulate_program(folded, point, program, hooks);
  }
  const DimensionProgram program(topology, plan, collective.element_bytes, collective.parts);
  return simulate_program(topology, point, program, hooks);
}

}  // namespace espalier
