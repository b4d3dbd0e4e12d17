// What the collectives of a training run: tables of an iteration's all-reduces on the modelled
// network, and plans of a workload's collectives, each on the dimensions of its group.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/choose/choices.h"
#include "sims/choose/choose.h"
#include "sims/point/config.h"
#include "sims/point/training_config.h"
#include "sims/system/simulation.h"
#include "sims/workload/training/compute_model.h"
#include "sims/workload/training/dimension_cost.h"
#include "sims/workload/training/parallel_groups.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// The all-reduces of an iteration as one program, by post.
struct TrainingTables {
  explicit TrainingTables(ScheduleTables program) : tables(std::move(program)) {}

  ScheduleTables tables;
  std::vector<PostedCollective> posts;
  // The tables of the largest all-reduce. An NI loads the table of an all-reduce when it is posted,
  // so only these must fit the NI. Empty if there is one all-reduce.
  std::optional<ScheduleTables> largest;
};

// Cycle 0 of the posts is the end of back-propagation without overlap, and its start with overlap.
// Preconditions: the point has training and a collective; the algorithm fits the topology.
// `choices`: as for generate_tables().
[[nodiscard]] TrainingTables training_tables(const Topology& topology, const RunPoint& point,
                                             const Choices& choices = Choices());
// A training iteration without overlap whose one all-reduce has these tables.
[[nodiscard]] TrainingTables single_all_reduce(ScheduleTables tables);

// Certifies all all-reduces together; only the largest must fit the NI's table.
[[nodiscard]] Certificate certify_training(const Topology& topology, const RunPoint& point,
                                           const TrainingTables& tables);

// The node of each rank of a job on all nodes, in the point's rank order.
[[nodiscard]] std::vector<NodeId> nodes_by_rank(const Topology& topology, const RunPoint& point);

[[nodiscard]] IterationPlan plan_iteration(const TrainingConfig& training);

// Where the time of one iteration goes.
struct IterationTimes {
  Cycle forward = 0;
  Cycle backward = 0;
  Cycle all_reduce = 0;  // an all-reduce is in flight: first issue to last data visible
  Cycle overlapped = 0;  // the part of all_reduce during which the accelerators compute
  Cycle iteration = 0;   // start of forward to the last of computing and communication

  [[nodiscard]] Cycle compute() const { return forward + backward; }
  [[nodiscard]] Cycle exposed() const { return iteration - compute(); }
};

[[nodiscard]] IterationTimes iteration_times(const IterationPlan& plan, Overlap overlap,
                                             const std::vector<CollectiveSpan>& collectives);

// One operation alone on the network: on the dimensions of its group, each with the group's size
// there.
struct WorkloadPlan {
  CommunicationOp op;
  RunPoint point;
  Topology topology;
  ForecastPlan planned;
};

// Precondition: point.workload.
[[nodiscard]] ParallelGroups workload_groups(const Topology& topology, const RunPoint& point);

// A plan for every different operation of the workload, in the order of issue. Skips all_to_all,
// which no planner plans, and operations without bytes or without a second NPU. Precondition:
// point.collective names a planner.
[[nodiscard]] std::vector<std::unique_ptr<const WorkloadPlan>> plan_workload(
    const RunPoint& point, const ParallelGroups& groups, const Workload& workload,
    const Choices& choices);

// "all_reduce of 120000000 B over all data-parallel NPUs".
[[nodiscard]] std::string describe(const CommunicationOp& op);

// The bandwidths and latencies of a multi-dimensional system, for costs in closed form.
// Precondition: topology.dimensions(), built from the point's system.
[[nodiscard]] CostSystem cost_system(const Topology& topology, const RunPoint& point);

}  // namespace espalier
