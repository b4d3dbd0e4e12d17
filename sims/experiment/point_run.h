// The steps in which kinds of runs differ: collective, training, plan, program, workload, job,
// traffic, control. run_point() in point_runner.cpp has the steps that all kinds share.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "alg/bounds/bounds.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/choose/choices.h"
#include "sims/choose/collective_work.h"
#include "sims/model/system_shape.h"
#include "sims/point/simulation_config.h"
#include "sims/system/simulation.h"

namespace espalier {

class RunAccount;
struct RunPoint;

struct PointInput {
  const Topology& topology;
  const RunPoint& point;
  const std::optional<ScheduleTables>& tables;  // of a schedule file
  const Choices& choices;                       // of auto
};

// What every part of a result may tell of.
struct PointFacts {
  const Topology& topology;
  const RunPoint& point;
};

// A lower bound of the run's time. Without `bound`, bound_ns and bound_ratio are null; without one
// of the others, the result has no field for it.
struct RunBound {
  Bytes size = 0;  // bytes of the collective: `bandwidth_GBps` is size / time
  std::optional<CollectiveBound> bound;
  std::optional<double> ideal_seconds;
  std::optional<Topology> network;          // of the certificate, if it is not the run's
  std::optional<double> two_phase_seconds;  // an all_reduce in two phases (alg/bounds/bounds.h)
  double bus_factor = 0;                    // `busbw_GBps` / `bandwidth_GBps`; 0: there is none
};
// As nccl-tests define it (doc/PERFORMANCE.md): the bytes that pass each rank's link over the size,
// if all ranks have one link.
[[nodiscard]] double bus_factor(CollectiveOp op, std::size_t ranks);

// The steps of one run, called in the order of the declarations. The constructor of a kind
// generates what it runs: a schedule, a plan, a program, a job.
class PointRun {
 public:
  using Json = nlohmann::ordered_json;

  explicit PointRun(const PointInput& input) : facts_{input.topology, input.point} {}
  virtual ~PointRun() = default;
  PointRun(const PointRun&) = delete;
  PointRun& operator=(const PointRun&) = delete;

  // Certifies what the constructor made.
  virtual void prove() {}
  // Writes the fields that are known before the simulation.
  virtual void describe(Json& result) const = 0;
  // Writes the verdict. Returns why the point must not be simulated; an
  // empty text if it may be.
  [[nodiscard]] virtual std::string certify(Json& result);
  // Lets the account see the simulation.
  virtual void watch(SimulationHooks& hooks, RunAccount& account);
  // Simulates, so: once per process.
  [[nodiscard]] virtual SimulationOutcome simulate(const SimulationHooks& hooks) = 0;
  // Writes what the simulation measured.
  virtual void describe_outcome(Json& result, const SimulationOutcome& outcome) const;
  // The bound on the collective; empty where the run is not one collective.
  [[nodiscard]] virtual std::optional<RunBound> bound() const { return {}; }
  // What the run needs of the hardware beyond its configuration.
  [[nodiscard]] virtual RunNeed need() const { return {}; }
  // Whether the simulation has all events of the run.
  [[nodiscard]] virtual bool counts_energy() const { return true; }
  // The NIs of the run decide with this block.
  [[nodiscard]] virtual bool has(RtlBlock /*block*/) const { return false; }
  // One NPU was simulated for all.
  [[nodiscard]] virtual bool is_folded() const { return false; }
  // Where the time went; null where the kind has no answer.
  [[nodiscard]] virtual Json explain(RunAccount& account, const SimulationOutcome& outcome) const;

 protected:
  [[nodiscard]] const Topology& topology() const { return facts_.topology; }
  [[nodiscard]] const RunPoint& point() const { return facts_.point; }
  [[nodiscard]] const PointFacts& facts() const { return facts_; }

 private:
  PointFacts facts_;
};

// One maker for each kind of run, in the kind's own file. Throws std::invalid_argument where the
// system cannot be built.
[[nodiscard]] std::unique_ptr<PointRun> make_collective_run(const PointInput& input);
// The same of work that is made.
[[nodiscard]] std::unique_ptr<PointRun> make_work_run(const PointInput& input, CollectiveWork work);
// Precondition: the work is a program. make_work_run() calls it.
[[nodiscard]] std::unique_ptr<PointRun> make_program_run(const PointInput& input,
                                                         CollectiveWork work);
[[nodiscard]] std::unique_ptr<PointRun> make_training_run(const PointInput& input);
[[nodiscard]] std::unique_ptr<PointRun> make_plan_run(const PointInput& input);
[[nodiscard]] std::unique_ptr<PointRun> make_workload_run(const PointInput& input);
// Precondition: the workload has a graph.
[[nodiscard]] std::unique_ptr<PointRun> make_graph_run(const PointInput& input);
[[nodiscard]] std::unique_ptr<PointRun> make_job_run(const PointInput& input);
[[nodiscard]] std::unique_ptr<PointRun> make_traffic_run(const PointInput& input);
[[nodiscard]] std::unique_ptr<PointRun> make_control_run(const PointInput& input);

}  // namespace espalier
