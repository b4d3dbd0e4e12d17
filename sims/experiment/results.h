// What a result says, a struct for each part. results.txt has the parts' fields, and the member
// from which each takes its value; CMake writes write_fields() for each part (result_parts.h).
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/plans/planner.h"
#include "sims/choose/collective_work.h"
#include "sims/experiment/describe_cost.h"
#include "sims/experiment/point_run.h"
#include "sims/experiment/training_work.h"
#include "sims/point/config.h"
#include "sims/system/plan_simulation.h"
#include "sims/workload/coordination/training_recorder.h"
#include "sims/workload/training/timeline.h"

namespace espalier {

// Before the simulation: what each kind of run knows.
struct TablesResult : PointFacts {
  const ScheduleTables& tables;
  [[nodiscard]] std::size_t num_ranks() const;
};
struct PlanResult : PointFacts {
  const ForecastPlan& planned;
  [[nodiscard]] nlohmann::ordered_json in_flight() const;
};
struct ProgramResult : PointFacts {
  const CollectiveWork& work;
  const Program& program;
};
struct WorkloadResult : PointFacts {
  const Workload& workload;
  const ParallelGroups& groups;
};
struct JobResult : PointFacts {
  std::string algorithm;
  Bytes size;
};
struct TrafficResult : PointFacts {};
struct ControlRunResult : PointFacts {};

struct Certified {
  std::optional<bool> certified;  // empty: there is no verdict
};
struct TablesCertificate {
  const Certificate& certificate;
  TableFormat format;
};

// What the simulation measured.
struct Verdict {
  bool verified;
  const std::string& failure;
};
struct ControlResult {
  const ControlConfig& config;
  const ControlStatistics& statistics;
};
struct TenantsResult {
  const TenantsConfig& config;
  const TenantStatistics& statistics;
  double ns;        // in which messages were posted
  double capacity;  // GB/s of the uplinks of all racks together, in one direction
  [[nodiscard]] double gbps(Bytes bytes) const { return static_cast<double>(bytes) / ns; }
};
struct SimulationResult {
  const RunPoint& point;
  const SimulationOutcome& outcome;
  [[nodiscard]] std::optional<RackShape> racks() const;
  [[nodiscard]] TenantsResult tenants() const;
};
struct TrafficOutcome : PointFacts {
  const SimulationOutcome& outcome;
};
struct ControlOutcome : SimulationResult {};

struct LinkResult {
  std::string from;
  std::string to;
  double utilization;
};
struct LinksResult {
  std::vector<LinkResult> links;
};

// A training iteration by schedule tables.
struct IterationResult {
  IterationTimes times;
  ClockSpec clock;
  [[nodiscard]] double ns(Cycle cycles) const { return nanoseconds(cycles, clock); }
};
// In cycles of the simulation: these begin at the end of back-propagation without overlap, and at
// its start with overlap.
struct CollectiveResult {
  std::string layer;  // with layerwise overlap
  Bytes size;
  Cycle posted;
  CollectiveSpan span;
};
struct TrainingOutcome {
  IterationResult iteration;
  std::vector<CollectiveResult> collectives;
};

// A plan of a multi-dimensional system. Only payload counts for utilizations, so they are never
// above 1 (Themis, section 3).
struct DimensionResult {
  const DimensionSpec& spec;
  DimensionAlgorithm algorithm;
  double bytes;  // that an NPU sent
  double planned_bytes;
  double seconds;
  [[nodiscard]] double rate() const { return static_cast<double>(spec.bytes_per_second()); }
};
struct DimensionsResult {
  std::vector<DimensionResult> list;
};
// How much of the time each dimension of the first NPU had a chunk to work on, waiting or in flight
// (Themis, Fig. 9): by dimension, the share of each period.
struct ActivityResult {
  double period_ns;
  std::vector<std::vector<double>> shares;
};
struct PlanOutcomeResult {
  const PlanOutcome& outcome;
  double utilization;  // of all dimensions, weighted by bandwidth
  DimensionsResult dimensions;
  ActivityResult activity;
};

// Iterations of a workload.
struct TimelineResult {
  const TrainingTimeline& simulated;
  const TrainingTimeline& ideal;
};
struct WorkloadOutcome : TimelineResult {
  const SimulationOutcome& outcome;
  const std::string& choice;
};

// A step that a graph of work describes.
struct StepWork : PointFacts {};
// All collectives of one operation and phase in groups of one size and one distance between ranks.
struct StepCollective {
  std::string op;
  std::string phase;  // empty: names do not say it
  std::size_t ranks = 0;
  std::uint32_t stride = 0;  // 0: ranks have different distances
  std::uint64_t count = 0;
  Bytes bytes = 0;
  double exposed_ns = 0;  // mean over all ranks
  std::optional<double> path_ns;
};
// The links of a dimension, or of a tier.
struct StepDimension {
  std::string name;
  std::uint64_t links = 0;
  Bytes bytes = 0;  // that the links carried, with heads
  double busy = 0;  // share of their bandwidth in the step, mean
};
// The busiest link that carried a part of the critical path.
struct StepLink {
  std::string name;
  std::string dimension;
  double busy = 0;     // share of the part's time
  std::string others;  // who else used it then; empty: nobody
};
struct StepPart {
  std::uint32_t rank;
  std::uint64_t node;
  std::string name;
  std::string kind;
  double from_ns;
  double to_ns;
  std::string group = {};  // of a collective
  std::optional<StepLink> link = {};
};
// Means over all ranks, if no rank is named.
struct StepResult {
  double compute_ns = 0;
  double exposed_ns = 0;
  double idle_ns = 0;
  double idle_min_ns = 0;
  double idle_max_ns = 0;
  std::vector<double> rank_end_ns;
  std::uint64_t sends = 0;
  Bytes send_bytes = 0;
  double exposed_sends_ns = 0;
  std::vector<StepCollective> collectives;
  std::vector<StepDimension> dimensions;
  Bytes slowest_bytes = 0;
  std::optional<std::vector<StepPart>> path;  // only if the run is explained
};
struct StepOutcome : SimulationResult {
  const StepResult& step;
  std::string choice;
};

// A coordinated job. Which traffic used the simulated network; the other traffic took the time of a
// closed form.
struct JobPlanes {
  bool control = true;
  bool data = true;
};
// Sums over the iterations after the first iteration, which fills the response caches. A job of one
// iteration has its values.
struct SteadyResult {
  double cycle_ns;
  double compute;  // cycles of an iteration
  double samples;  // of an iteration
  double iterations = 0;
  double iteration = 0;
  double control = 0;
  double control_cycles = 0;
  double all_reduces = 0;
  double busy = 0;         // an all-reduce is in flight
  double for_tensors = 0;  // from its first tensor's completion to its last one's, on rank 0
  double negotiation = 0;  // from the last tensor until all ranks have posted the all-reduce
  double queued = 0;       // from the last post until the all-reduce starts
  // Of one iteration, and of one all-reduce.
  [[nodiscard]] double mean(double sum) const { return sum / std::max(1.0, iterations); }
  [[nodiscard]] double each_ns(double sum) const {
    return sum / std::max(1.0, all_reduces) * cycle_ns;
  }
};
struct JobIteration {
  double iteration_ns;
  double control_ns;
  std::uint64_t control_cycles;
};
struct CoordinationResult {
  const RunPoint& point;
  const TrainingJob& job;
  const TrainingRecord& record;
  JobPlanes planes;
  [[nodiscard]] bool ended() const { return record.failure.empty(); }
  [[nodiscard]] double ns(Cycle cycles) const { return nanoseconds(cycles, point.system.clock); }
  [[nodiscard]] SteadyResult steady() const;
  [[nodiscard]] std::vector<JobIteration> by_iteration() const;
  // Counts of all-reduces by size: 1 B, 2 and 3 B, 4 to 7 B, and so on.
  [[nodiscard]] std::vector<std::uint64_t> counts_by_log2() const;
};
struct JobOutcome {
  const SimulationOutcome& outcome;
  CoordinationResult coordination;
  std::string choice;  // of auto
};

// The bound, with what proves it. What a reader can complete stays away: most networks are large.
struct LinkPrice {
  std::string from;
  std::string to;
  double price;
  std::optional<double> input_price;
};
struct BoundProof {
  const char* schedules;
  const char* kind = "";
  std::optional<std::vector<std::string>> into = {};
  std::optional<std::vector<std::string>> into_all_but = {};
  std::optional<std::vector<std::string>> senders = {};
  std::optional<std::vector<std::string>> receivers = {};
  std::optional<const char*> counted = {};
  std::vector<std::vector<std::string>> parts = {};
  std::vector<LinkPrice> prices = {};
  std::vector<std::uint32_t> dimensions = {};
};
struct BoundResult {
  const Topology& topology;
  const RunBound& run;
  double time_ns;  // 0: the run did not end
  [[nodiscard]] std::optional<double> bound_ns() const;
  [[nodiscard]] std::optional<double> ratio() const;
  [[nodiscard]] BoundProof proof() const;  // precondition: the bound has a certificate
};

// The cost of the system, and figures that depend on the machine.
struct HostResult {
  const SimulationOutcome& outcome;
  double simulated;  // the part of the flit hops that was simulated
  double wall_seconds;
  double planning_cpu_seconds;
  double choosing_seconds;
  double peak_rss_mib;
};
struct RunCost {
  AreaResult area;
  std::optional<EnergyResult> energy;
  nlohmann::ordered_json explanation;  // null: none
};
struct HostFigures {
  HostResult host;
};

// 0 if `by` is 0.
template <class T, class By>
[[nodiscard]] double quotient(T value, By by) {
  return by == 0 ? 0.0 : static_cast<double>(value) / static_cast<double>(by);
}
// Seconds as nanoseconds. Rounded to 14 digits, which hides the rounding errors of the arithmetic:
// 1920, not 1919.9999999999998.
[[nodiscard]] double rounded_ns(double seconds);

// All counters, under their own names.
void write_fields(nlohmann::ordered_json& to, const Counters& counters);

}  // namespace espalier
