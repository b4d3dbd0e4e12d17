#include "sims/experiment/training_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hw/topology/link_timing.h"
#include "sims/choose/certify_point.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/system/plan_simulation.h"

namespace espalier {

namespace {

TrainingTables layerwise_tables(const Topology& topology, const RunPoint& point,
                                const Choices& choices) {
  const CollectiveConfig& collective = *point.collective;
  const IterationPlan plan = plan_iteration(*point.training);
  std::map<Bytes, ScheduleTables> by_size;  // layers of one size share a schedule
  std::vector<const ScheduleTables*> parts;
  for (const GradientPost& post : plan.posts) {
    CollectiveConfig part = collective;
    part.size = post.parameters * collective.element_bytes;
    auto found = by_size.find(part.size);
    if (found == by_size.end()) {
      found =
          by_size.emplace(part.size, generate_tables(topology, point.system, part, choices)).first;
    }
    parts.push_back(&found->second);
  }
  TableSequence sequence = concatenate(topology, parts);
  TrainingTables result(std::move(sequence.tables));
  store_rows(result.tables, point.system.ni);
  TakenAlgorithms taken;
  for (const auto& [size, tables] : by_size) taken.note(size, tables.taken);
  result.tables.choice = taken.text();
  for (std::size_t p = 0; p < plan.posts.size(); ++p) {
    result.posts.push_back({sequence.first_step[p], sequence.first_chunk[p], plan.posts[p].at});
  }
  result.largest = std::move(by_size.rbegin()->second);
  return result;
}

// Cycles up to `end` that at least one span covers.
Cycle covered(std::vector<CollectiveSpan> spans, Cycle end) {
  std::sort(spans.begin(), spans.end(), [](const CollectiveSpan& a, const CollectiveSpan& b) {
    return a.first_issue < b.first_issue;
  });
  Cycle sum = 0;
  Cycle reached = 0;
  for (const CollectiveSpan& span : spans) {
    const Cycle from = std::max(reached, span.first_issue);
    const Cycle to = std::min(end, span.last_visible);
    if (to <= from) continue;
    sum += to - from;
    reached = to;
  }
  return sum;
}

}  // namespace

TrainingTables training_tables(const Topology& topology, const RunPoint& point,
                               const Choices& choices) {
  if (point.training->overlap == Overlap::layerwise) {
    return layerwise_tables(topology, point, choices);
  }
  return single_all_reduce(generate_tables(topology, point.system, *point.collective, choices));
}

TrainingTables single_all_reduce(ScheduleTables tables) {
  TrainingTables result(std::move(tables));
  result.posts.emplace_back();
  return result;
}

Certificate certify_training(const Topology& topology, const RunPoint& point,
                             const TrainingTables& tables) {
  if (!tables.largest) return certify_point(topology, point, tables.tables);
  RunPoint unlimited = point;
  unlimited.system.ni.table_entries = 0;
  Certificate all = certify_point(topology, unlimited, tables.tables);
  const Certificate largest = certify_point(topology, point, *tables.largest);
  all.most_table_entries = largest.most_table_entries;
  for (const Violation& violation : largest.violations) {
    if (violation.kind == ViolationKind::capacity) all.violations.push_back(violation);
  }
  return all;
}

std::vector<NodeId> nodes_by_rank(const Topology& topology, const RunPoint& point) {
  std::vector<NodeId> nodes = point.collective->rank_order.nodes;
  if (!nodes.empty()) return nodes;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) nodes.emplace_back(n);
  return nodes;
}

IterationPlan plan_iteration(const TrainingConfig& training) {
  return plan_iteration(training.layers, training.mini_batch, training.compute);
}

IterationTimes iteration_times(const IterationPlan& plan, Overlap overlap,
                               const std::vector<CollectiveSpan>& collectives) {
  IterationTimes times;
  times.forward = plan.forward;
  times.backward = plan.backward;
  times.all_reduce = covered(collectives, kNever);
  Cycle last_visible = 0;
  for (const CollectiveSpan& span : collectives) {
    last_visible = std::max(last_visible, span.last_visible);
  }
  if (overlap == Overlap::none) {
    times.iteration = plan.compute() + last_visible;
    return times;
  }
  times.overlapped = covered(collectives, plan.backward);
  times.iteration = plan.forward + std::max(plan.backward, last_visible);
  return times;
}

namespace {

// Appends entry `d` of a list; an empty list means "auto".
template <class T>
void keep(std::vector<T>& list, const std::vector<T>& all, std::size_t d) {
  if (!all.empty()) list.push_back(all[d]);
}

// The group's part of the system: its dimensions, each with the group's size there.
SystemConfig system_of(const SystemConfig& system, const LogicalGroup& group) {
  const DimensionsConfig& all = system.dimensions;
  SystemConfig part = system;
  part.topology.type = family_of(Family::Source::dimensions);
  DimensionsConfig& kept = part.dimensions;
  kept = {};
  kept.packet_flits = all.packet_flits;
  for (const GroupDimension& of_group : group) {
    const std::size_t d = of_group.dimension;
    keep(kept.shape, all.shape, d);
    keep(kept.size, all.size, d);
    keep(kept.links, all.links, d);
    keep(kept.bytes_per_second, all.bytes_per_second, d);
    keep(kept.latency_ps, all.latency_ps, d);
    keep(kept.flit_bytes, all.flit_bytes, d);
    keep(kept.vc_depth_flits, all.vc_depth_flits, d);
    keep(kept.algorithm, all.algorithm, d);
    kept.size.back() = of_group.size;
    // A fully connected dimension keeps the links to NPUs of the group.
    const bool has_links = !kept.links.empty() && kept.links.back() != 0;
    if (has_links && kept.shape.back() == DimensionShape::fully_connected) {
      kept.links.back() = kept.links.back() / (all.size[d] - 1) * (of_group.size - 1);
    }
  }
  return part;
}

std::unique_ptr<const WorkloadPlan> plan_operation(const CommunicationOp& op, RunPoint point,
                                                   const Choices& choices) {
  Topology topology = make_dimensions(dimension_specs(point.system));
  ForecastPlan planned = plan_point(topology, point, choices);
  return std::make_unique<const WorkloadPlan>(
      WorkloadPlan{op, std::move(point), std::move(topology), std::move(planned)});
}

const char* npus_of(CommunicationScope scope) {
  switch (scope) {
    case CommunicationScope::model:
      return "the NPUs of a model-parallel group";
    case CommunicationScope::data:
      return "the NPUs of a data-parallel group";
    case CommunicationScope::all:
      break;
  }
  return "all NPUs";
}

}  // namespace

ParallelGroups workload_groups(const Topology& topology, const RunPoint& point) {
  return split_groups(topology.dimensions()->dimensions, model_npus_of(*point.workload));
}

std::vector<std::unique_ptr<const WorkloadPlan>> plan_workload(const RunPoint& point,
                                                               const ParallelGroups& groups,
                                                               const Workload& workload,
                                                               const Choices& choices) {
  std::vector<std::unique_ptr<const WorkloadPlan>> plans;
  for (const CommunicationOp& op : workload.operations()) {
    const LogicalGroup& group = groups.of(op.scope);
    if (op.op == CollectiveOp::all_to_all || op.bytes == 0 || group.empty()) continue;
    const auto known =
        std::find_if(plans.begin(), plans.end(), [&](const auto& plan) { return plan->op == op; });
    if (known != plans.end()) continue;
    RunPoint alone = point;
    alone.workload.reset();
    alone.system = system_of(point.system, group);
    alone.collective->op = op.op;
    alone.collective->size = op.bytes;
    alone.collective->element_bytes = WorkloadSpec{}.element_bytes;
    alone.collective->parts = PartSizes::equal;
    plans.push_back(plan_operation(op, std::move(alone), choices));
  }
  return plans;
}

std::string describe(const CommunicationOp& op) {
  return fmt::format("{} of {} B over {}", to_string(op.op), op.bytes, npus_of(op.scope));
}

CostSystem cost_system(const Topology& topology, const RunPoint& point) {
  return {topology.dimensions()->dimensions, planned_dimensions(point.system)};
}

}  // namespace espalier
