#include "sims/experiment/point_runner.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ni/rtl/rtl_sequencer.h"
#include "sims/choose/choose.h"
#include "sims/experiment/result_parts.h"
#include "sims/experiment/result_register.h"
#include "sims/observe/explain/explanation.h"
#include "sims/observe/explain/run_account.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;
using SteadyTime = std::chrono::steady_clock::time_point;

// A kind of run: whether it takes a point, and how it is made. The first kind that takes the point
// runs it.
struct PointKind {
  bool (*takes)(const PointInput& input);
  std::unique_ptr<PointRun> (*make)(const PointInput& input);
};

constexpr PointKind kPointKinds[] = {
    {[](const PointInput& input) { return input.point.traffic.has_value(); }, make_traffic_run},
    {[](const PointInput& input) { return input.point.workload && input.point.workload->graph; },
     make_graph_run},
    {[](const PointInput& input) { return input.point.workload.has_value(); }, make_workload_run},
    {[](const PointInput& input) { return input.point.coordination.has_value(); }, make_job_run},
    {[](const PointInput& input) { return input.point.training.has_value(); }, make_training_run},
    {[](const PointInput& input) { return input.topology.dimensions() && input.point.collective; },
     make_plan_run},
    {[](const PointInput& input) { return !input.point.collective && !input.tables; },
     make_control_run},
    {[](const PointInput&) { return true; }, make_collective_run},
};

std::string decided_by(RtlBlock block) {
  const std::string name = name_of(block);
  switch (block) {
    case RtlBlock::ni_control:
    case RtlBlock::dependency_state:
      return name + " decides for the schedule tables of a collective or a training";
    case RtlBlock::dimension_queue:
      return name +
             " decides for the dimension queues of a collective or a workload on a "
             "multi-dimensional system";
    case RtlBlock::output_hold:
      break;
  }
  return name + " decides for routers";
}

std::unique_ptr<PointRun> make_run(const PointInput& input) {
  const PointKind* kind = kPointKinds;
  while (!kind->takes(input)) ++kind;
  const std::vector<RtlBlock>& rtl = input.point.simulation.rtl;
  if (!rtl.empty() && !has_rtl()) {
    throw std::invalid_argument(fmt::format("simulation.rtl: {}", kNoRtlModels));
  }
  std::unique_ptr<PointRun> run = kind->make(input);
  const auto decides = [&](RtlBlock block) {
    return block == RtlBlock::output_hold || run->has(block);
  };
  if (!rtl.empty() && std::none_of(rtl.begin(), rtl.end(), decides)) {
    std::vector<std::string> blocks;
    for (const RtlBlock block : rtl) blocks.push_back(decided_by(block));
    throw std::invalid_argument(
        fmt::format("simulation.rtl: {}, and this run has none", fmt::join(blocks, "; ")));
  }
  return run;
}

PointReport refused(PointReport report, const std::string& why) {
  report.failure = why;
  write_fields(report.result, Verdict{false, why});
  return report;
}

// Until there is a schedule, plan or program.
struct PlanningTime {
  double cpu_seconds = 0;         // of this process, so without simulations of candidates
  double simulating_seconds = 0;  // on the clock, in which auto waits for these simulations
};

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Sets `elaborated` when the program's modules are attached.
SimulationHooks noting_elaboration(const SimulationHooks& hooks, bool& elaborated) {
  SimulationHooks noting = hooks;
  if (hooks.elaborate) {
    noting.elaborate = [&hooks, &elaborated](Elaboration& elaboration) {
      elaborated = true;
      hooks.elaborate(elaboration);
    };
  }
  return noting;
}

// The pipeline of every run.
PointReport run(const PointInput& input, const SimulationHooks& hooks, RunAccount* account) {
  const SteadyTime begin = std::chrono::steady_clock::now();
  const auto& [topology, point, tables, choices] = input;
  const std::clock_t cpu_begin = std::clock();
  const std::unique_ptr<PointRun> run = make_run(input);
  const PlanningTime planning{static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC,
                              choices.simulating_seconds()};
  run->prove();
  PointReport report;
  Json& result = report.result;
  run->describe(result);
  write_fields(result, point);
  if (const std::string why = run->certify(result); !why.empty()) {
    return refused(std::move(report), why);
  }
  bool elaborated = false;
  SimulationHooks watched = noting_elaboration(hooks, elaborated);
  if (account != nullptr) run->watch(watched, *account);
  SimulationOutcome outcome = run->simulate(watched);
  if (outcome.complete && point.collective) {
    const CollectiveConfig& call = *point.collective;
    outcome.cycles = std::max(outcome.cycles + call.launch_cycles, call.host_cycles);
  }
  if (hooks.elaborate && !elaborated) {
    return refused(std::move(report),
                   "the program attaches modules, but this run takes its times from closed forms "
                   "and simulates no system (coordination.network)");
  }
  run->describe_outcome(result, outcome);
  if (const auto bound = run->bound()) {
    const double time_ns = nanoseconds(outcome.cycles, point.system.clock);
    write_fields(result, BoundResult{topology, *bound, time_ns});
  }
  const bool folded = run->is_folded();
  const PricedSystem priced = price_system(point.system, topology, run->need());
  RunCost cost{{priced, point.system, topology, AreaDetail::largest_kind}, {}, {}};
  if (outcome.complete && run->counts_energy()) {
    cost.energy.emplace(energy_of(priced, topology, point, outcome, folded));
  }
  if (account != nullptr && outcome.complete) {
    const Json explanation = run->explain(*account, outcome);
    if (!explanation.is_null()) cost.explanation = judged(explanation, result, topology, point);
  }
  write_fields(result, cost);
  if (!outcome.complete) clear_void_fields(result, kNotEnded);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  write_fields(result,
               HostFigures{{outcome, folded ? 1.0 / static_cast<double>(topology.num_nodes()) : 1.0,
                            wall.count(), planning.cpu_seconds, planning.simulating_seconds,
                            peak_rss_mib()}});
  report.note = slow_note(topology, point, outcome.stops, outcome.engine_seconds);
  report.failure = outcome.failure;
  report.unsuited = outcome.unsuited;
  return report;
}

}  // namespace

std::string PointRun::certify(Json&) { return {}; }

void PointRun::watch(SimulationHooks& hooks, RunAccount& account) {
  hooks.observers.push_back(&account.recorder());
}

void PointRun::describe_outcome(Json& result, const SimulationOutcome& outcome) const {
  write_fields(result, SimulationResult{point(), outcome});
  if (outcome.link_utilization.empty()) return;
  LinksResult links;
  for (std::size_t l = 0; l < outcome.link_utilization.size(); ++l) {
    const TopologyLink& link = topology().links()[l];
    links.links.push_back({topology().vertex_name(link.from), topology().vertex_name(link.to),
                           outcome.link_utilization[l]});
  }
  write_fields(result, links);
}

PointRun::Json PointRun::explain(RunAccount&, const SimulationOutcome&) const { return {}; }

PointReport run_point(const Topology& topology, const RunPoint& point,
                      const std::optional<ScheduleTables>& tables, const SimulationHooks& hooks,
                      RunAccount* account, const std::string& choices) {
  try {
    Choices decided(choices);
    return run({topology, point, tables, decided}, hooks, account);
  } catch (const std::invalid_argument& error) {
    return not_run(error.what());
  }
}

bool has_tables(const Topology& topology, const RunPoint& point) {
  return point.collective && !topology.dimensions() && !point.coordination && !point.workload;
}

RunNeed run_need(const Topology& topology, const RunPoint& point,
                 const std::optional<ScheduleTables>& tables) {
  if (!has_tables(topology, point)) return configured_need(point);
  return make_run({topology, point, tables, Choices()})->need();
}

PointReport plan_run(const Topology& topology, const RunPoint& point,
                     const std::optional<ScheduleTables>& tables) {
  PointReport report;
  const PointInput input{topology, point, tables, Choices()};
  if (tables) make_run(input)->describe(report.result);
  std::optional<PlannedWork> planned;
  if (!tables) planned = planned_work(topology, point);
  if (!planned) return report;
  // A program of the user is certified, however long that takes.
  const bool is_slow = point.simulation.check && !point.collective->program.given &&
                       planned->work.program && is_proven_slowly(*planned->work.program);
  make_work_run(input, std::move(planned->work))->describe(report.result);
  report.result["planned_ns"] = planned->ns;
  report.result["least_ns"] = planned->least_ns;
  report.result["is_proven_slowly"] = is_slow;
  return report;
}

PointReport not_run(const std::string& why) { return refused({}, why); }

}  // namespace espalier
