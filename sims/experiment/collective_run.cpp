// A collective by schedule tables, and training iterations that all-reduce by such tables. If the
// collective has a program in place of tables, program_run.cpp runs it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "alg/bounds/bounds.h"
#include "alg/certify/certifier.h"
#include "alg/generators/process_group.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/experiment/result_parts.h"
#include "sims/model/idle_times.h"
#include "sims/observe/explain/run_account.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// The bytes that each node of the group owns at the end or has at the start; of an all_to_all, the
// bytes that the first node sends to each node. Empty for an all-reduce, where every node has all.
std::vector<Bytes> parts_of(const Topology& topology, const ScheduleTables& tables,
                            std::size_t group = 0) {
  if (tables.op == CollectiveOp::all_reduce) return {};
  std::vector<Bytes> parts(topology.num_nodes(), 0);
  const bool exchanges = tables.op == CollectiveOp::all_to_all;
  const std::vector<NodeId> members = tables.scope.members(topology.num_nodes())[group];
  const NodeId first = members.front();
  for (const Chunk& chunk : tables.chunks) {
    if (chunk.group != group || (exchanges && chunk.owner != first)) continue;
    const NodeId holder = exchanges ? chunk.destination : chunk.owner;
    // A chunk of a schedule file that is not checked may have no owner.
    if (holder.index() < parts.size()) parts[holder.index()] += chunk.size;
  }
  std::vector<Bytes> of_members;
  for (const NodeId member : members) of_members.push_back(parts[member.index()]);
  return of_members;
}

// What a collective and a training iteration share: one program of tables.
class TablesRun : public PointRun {
 public:
  TablesRun(const PointInput& input, TrainingTables program)
      : PointRun(input), program_(std::move(program)) {
    store_rows(program_.tables, point().system.ni);  // the tables of a file
  }

  void prove() override {
    if (point().simulation.check) {
      certificate_ = certify_training(topology(), point(), program_);
    }
  }

  void describe(Json& result) const override {
    write_fields(result, TablesResult{facts(), program_.tables});
    if (!certificate_) return;
    const TableFormat format = table_format(program_.tables, topology().num_nodes());
    write_fields(result, TablesCertificate{*certificate_, format});
  }
  std::string certify(Json&) override {
    return certificate_ ? refusal(certificate_->violations) : std::string();
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    return simulate_collectives(topology(), point(), program_.tables, program_.posts, hooks);
  }
  [[nodiscard]] std::optional<RunBound> bound() const override {
    const ScheduleTables& tables = program_.tables;
    const Scope& scope = tables.scope;
    RunBound bound;
    bound.size = tables.size;
    const auto groups = scope.members(topology().num_nodes());
    const std::size_t ranks = groups.front().size();
    if (std::all_of(groups.begin(), groups.end(),
                    [&](const auto& group) { return group.size() == ranks; })) {
      bound.bus_factor = bus_factor(tables.op, ranks);
    }
    const bool all_reduces = tables.op == CollectiveOp::all_reduce;
    if (scope.groups.size() > 1) {
      std::vector<Bytes> least;
      for (std::size_t g = 0; g < scope.groups.size(); ++g) {
        const std::vector<Bytes> parts = parts_of(topology(), tables, g);
        least.push_back(parts.empty() ? 0 : *std::min_element(parts.begin(), parts.end()));
      }
      bound.bound = groups_bound(topology(), tables.op, scope, least);
      return bound;
    }
    // A switch of collective_bound() does not add, but a relay does.
    if (is_rooted(tables.op) || tables.op == CollectiveOp::all_to_allv ||
        (all_reduces && point().collective->relay)) {
      bound.bound =
          scoped_bound(topology(), tables.op, tables.size, scope, held_inputs(point(), topology()));
      return bound;
    }
    // Nodes that take no part are switches.
    const std::vector<NodeId> members =
        scope.groups.empty() ? std::vector<NodeId>() : scope.groups.front().members;
    const ProcessGroup group(topology(), members);
    // Their NIs could take data in and send them again, which frees the crossbar.
    bound.bound = collective_bound(
        group.network(), tables.op, tables.size, parts_of(topology(), tables),
        members.empty() ? held_inputs(point(), topology()) : std::vector<double>());
    if (!members.empty()) bound.network = group.network();
    if (all_reduces && tables.size != 0) {
      bound.two_phase_seconds = two_phase_seconds(group.network(), tables.size);
    }
    return bound;
  }
  [[nodiscard]] bool has(RtlBlock block) const override {
    return block == RtlBlock::ni_control || block == RtlBlock::dependency_state;
  }
  [[nodiscard]] RunNeed need() const override {
    RunNeed need = table_need(program_.tables, topology().num_nodes());
    need.element_bytes = configured_need(point()).element_bytes;
    return need;
  }
  [[nodiscard]] Json explain(RunAccount& account, const SimulationOutcome& outcome) const override {
    return account.explain_tables(topology(), point(), program_.tables, program_.posts,
                                  outcome.ni_ports);
  }

 protected:
  [[nodiscard]] const TrainingTables& program() const { return program_; }

 private:
  TrainingTables program_;
  std::optional<Certificate> certificate_;
};

class TrainingRun : public TablesRun {
 public:
  explicit TrainingRun(const PointInput& input)
      : TablesRun(input, input.tables
                             ? single_all_reduce(*input.tables)
                             : training_tables(input.topology, input.point, input.choices)),
        plan_(plan_iteration(*input.point.training)) {}

  void describe(Json& result) const override {
    write_fields(result, *point().training);
    TablesRun::describe(result);
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    if (outcome.complete) {
      const Overlap overlap = point().training->overlap;
      write_fields(result, TrainingOutcome{{iteration_times(plan_, overlap, outcome.collectives),
                                            point().system.clock},
                                           collectives(outcome.collectives)});
    }
    TablesRun::describe_outcome(result, outcome);
  }

 private:
  [[nodiscard]] std::vector<CollectiveResult> collectives(
      const std::vector<CollectiveSpan>& spans) const {
    const TrainingConfig& training = *point().training;
    std::vector<CollectiveResult> results;
    for (std::size_t c = 0; c < spans.size(); ++c) {
      CollectiveResult result{{}, point().collective->size, program().posts[c].at, spans[c]};
      if (training.overlap == Overlap::layerwise) {
        result.layer = training.layers[plan_.posts[c].layer].name;
        result.size = plan_.posts[c].parameters * point().collective->element_bytes;
      }
      results.push_back(std::move(result));
    }
    return results;
  }

  IterationPlan plan_;
};

}  // namespace

std::unique_ptr<PointRun> make_collective_run(const PointInput& input) {
  if (input.tables) return std::make_unique<TablesRun>(input, TrainingTables(*input.tables));
  return make_work_run(input, generate_collective(input.topology, input.point, input.choices));
}

std::unique_ptr<PointRun> make_work_run(const PointInput& input, CollectiveWork work) {
  if (work.plan) return make_plan_run(input);
  if (work.program) return make_program_run(input, std::move(work));
  return std::make_unique<TablesRun>(input, TrainingTables(std::move(*work.tables)));
}

std::unique_ptr<PointRun> make_training_run(const PointInput& input) {
  return std::make_unique<TrainingRun>(input);
}

}  // namespace espalier
