#include "sims/system/plan_simulation.h"

#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ni/engines/dimension_queue_engine.h"
#include "ni/engines/engine_observer.h"
#include "ni/engines/folded_replay.h"
#include "ni/engines/switch_aggregation_engine.h"
#include "ni/rtl/rtl_dimension_queue.h"
#include "sims/model/faults.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/config.h"
#include "sims/system/simulated_system.h"

namespace espalier {

class StageLog : public EngineObserver {
 public:
  void stage_ready(StageRef stage, Cycle now) override { ready_[{stage.chunk, stage.stage}] = now; }
  void stage_started(StageRef stage, Cycle now) override {
    place_[{stage.chunk, stage.stage}] = spans_.size();
    spans_.push_back({stage, ready_[{stage.chunk, stage.stage}], now, now});
  }
  void stage_ended(StageRef stage, Cycle now) override {
    spans_[place_[{stage.chunk, stage.stage}]].end = now;
  }
  [[nodiscard]] std::vector<StageSpan> take() { return std::move(spans_); }

 private:
  using Name = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Name, Cycle> ready_;
  std::map<Name, std::size_t> place_;  // in spans_
  std::vector<StageSpan> spans_;
};

namespace {

// Multiplies the counts of one NPU by the number of NPUs for which it stands.
void scale(SimulationOutcome& outcome, std::uint64_t nodes) {
  outcome.flit_hops *= nodes;
  outcome.counters.scale(nodes);
  outcome.flits_injected *= nodes;
  outcome.head_flits *= nodes;
  outcome.latency.messages *= nodes;
  outcome.events.scale(nodes);
}

// Whether one NPU may stand for all, apart from what the caller asks for (--messages).
bool is_foldable(const Topology& topology, const RunPoint& point, const DimensionPlan& plan) {
  return point.simulation.fold != Folding::off &&
         folding_obstacle(point, plan, *topology.dimensions()).empty();
}

bool is_folded(const Topology& topology, const RunPoint& point, const DimensionPlan& plan,
               const SimulationHooks& hooks) {
  if (point.simulation.fold == Folding::off) return false;
  // --messages lists the messages of all nodes.
  const std::string obstacle =
      hooks.delivered ? "--messages" : folding_obstacle(point, plan, *topology.dimensions());
  if (!obstacle.empty() && point.simulation.fold == Folding::on) {
    throw std::invalid_argument("simulation.fold: one NPU cannot be simulated for all NPUs with " +
                                obstacle);
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

}  // namespace

// The units of switches that reduce and multicast, with programs loaded. `folded`: the memory of
// all units, if one unit stands for all.
class AggregationUnits {
 public:
  AggregationUnits(const Topology& topology, const DimensionProgram& program,
                   AggregationMemory* folded, Fabric& fabric) {
    for (std::size_t v = topology.num_nodes(); v < topology.num_vertices(); ++v) {
      const NodeId vertex(v);
      if (!topology.aggregates(vertex)) continue;
      const LinkId link = topology.out_links(vertex).front();
      if (folded == nullptr) memories_.push_back(std::make_unique<SwitchMemory>());
      AggregationMemory& memory = folded != nullptr ? *folded : *memories_.back();
      fabric.aggregation_unit(vertex).load(
          std::make_unique<SwitchAggregationEngine>(program, vertex, topology.dimension_of(link),
                                                    topology.link(link).to, memory),
          memory);
    }
  }

 private:
  std::vector<std::unique_ptr<SwitchMemory>> memories_;
};

namespace {

std::optional<Topology> folded_topology(const Topology& topology, const RunPoint& point,
                                        const DimensionPlan& plan, const SimulationHooks& hooks) {
  if (!is_folded(topology, point, plan, hooks)) return std::nullopt;
  return make_folded(topology.dimensions()->dimensions);
}

}  // namespace

class PlanSimulation::Parts {
 public:
  Parts(const Topology& topology, const RunPoint& point, const DimensionPlan& plan,
        const SimulationHooks& hooks, const std::string& suffix)
      : point_(point),
        plan_(plan),
        hooks_(hooks),
        folded_(folded_topology(topology, point, plan, hooks)),
        topology_(folded_ ? *folded_ : topology),
        program_(topology_, plan, point.collective->element_bytes, point.collective->parts),
        memories_(folded_ ? std::vector<NodeMemory>() : memories_before(plan, program_.layout())),
        replay_(program_),
        counting_(counting_hooks()),
        system_(topology_, point, program_.routes().routes(), program_.routes().used(),
                static_cast<std::uint32_t>(topology_.out_links(NodeId(0)).size()),
                program_.num_operations(), counting_, suffix) {
    outcome_.folded = folded_.has_value();
    outcome_.foldable = is_foldable(topology, point, plan);
    outcome_.equal_parts = program_.layout().equal_parts();
    outcome_.bytes_sent.resize(plan.dimensions.size(), 0);
    load_engines();
    units_.emplace(topology_, program_, folded_ ? &replay_.switches() : nullptr, system_.fabric());
  }

  PlanOutcome run() {
    outcome_.simulation = system_.run(program_.total_bytes());
    outcome_.stages = log_.take();
    SimulationOutcome& simulation = outcome_.simulation;
    if (outcome_.folded) {
      scale(simulation, plan_.num_nodes());
      for (Bytes& bytes : outcome_.bytes_sent) bytes *= plan_.num_nodes();
    }
    if (simulation.complete && simulation.failure.empty()) {
      simulation.failure =
          folded_ ? replay_.check() : check_data(memories_, plan_.op, program_.layout().pieces());
    }
    simulation.verified = simulation.complete && simulation.failure.empty();
    return std::move(outcome_);
  }

 private:
  SimulationHooks counting_hooks() {
    SimulationHooks counting = hooks_;
    counting.delivered = [this](const Operation& operation, Cycle now) {
      const StageRef stage = program_.place_of(operation.flow).stage;
      // Messages from switches do not count as sent by an NPU.
      if (!topology_.is_switch(operation.from)) {
        outcome_.bytes_sent[program_.stage(stage).dimension] += operation.bytes;
      }
      if (hooks_.delivered) hooks_.delivered(operation, now);
    };
    return counting;
  }

  DataMemory& memory_of(std::size_t node) {
    if (folded_) return replay_;
    return memories_[node];
  }

  void load_engines() {
    const DimensionQueueConfig& queue = point_.system.ni.dimension_queue;
    DimensionQueueEngine::Spec spec{arbiter_spec(point_), queue.flight(), queue.arbitration_cycles};
    if (point_.simulation.has_rtl(RtlBlock::dimension_queue)) {
      spec.arbiter_of_dimension = make_rtl_arbiter;
    }
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      const NodeId node(n);
      auto engine = std::make_unique<DimensionQueueEngine>(program_, node, spec);
      if (n == 0) engine->observe(log_);
      system_.fabric().ni(node).load(std::move(engine), memory_of(n),
                                     host_delay(point_.faults, node));
    }
  }

  const RunPoint& point_;
  const DimensionPlan& plan_;
  const SimulationHooks& hooks_;
  PlanOutcome outcome_;
  StageLog log_;
  const std::optional<Topology> folded_;
  const Topology& topology_;
  const DimensionProgram program_;
  std::vector<NodeMemory> memories_;  // by rank; empty if one NPU stands for all
  FoldedReplay replay_;               // used if one NPU stands for all
  const SimulationHooks counting_;
  SimulatedSystem system_;
  std::optional<AggregationUnits> units_;
};

PlanSimulation::PlanSimulation(const Topology& topology, const RunPoint& point,
                               const DimensionPlan& plan, const SimulationHooks& hooks,
                               const std::string& suffix)
    : parts_(std::make_unique<Parts>(topology, point, plan, hooks, suffix)) {}

PlanSimulation::~PlanSimulation() = default;

PlanOutcome PlanSimulation::run() { return parts_->run(); }

PlanOutcome simulate_plan(const Topology& topology, const RunPoint& point,
                          const DimensionPlan& plan, const SimulationHooks& hooks) {
  return PlanSimulation(topology, point, plan, hooks).run();
}

}  // namespace espalier
