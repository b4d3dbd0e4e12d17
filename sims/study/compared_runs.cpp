#include "sims/study/compared_runs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "sims/experiment/result_fields.h"
#include "sims/model/build_program.h"
#include "sims/point/config.h"
#include "sims/study/study.h"
#include "sims/text/people.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// auto is nearly always the best, so its time is explained in the run that is simulated anyway.
// Under a limit an explanation must not cost the result, and it unfolds dimensions.
bool is_explained_at_once(const RunPoint& point, const ComparisonSettings& settings) {
  return point.collective && point.collective->algorithm == kAutoAlgorithm && !point.training &&
         !point.workload && !point.coordination && !point.system.topology.is_dimensional() &&
         settings.limits.time.count() == 0 && settings.limits.memory_bytes == 0;
}

// Runs the points `which` with the task.
int run(const std::vector<ComparedPoint>& points, const std::vector<std::size_t>& which,
        const WorkerTask& task, const ComparisonSettings& settings, WorkerBatch batch) {
  std::vector<StudyPoint> study(points.size());
  for (const std::size_t i : which) {
    WorkerTask own = task;
    own.schedule = points[i].schedule;
    own.choices = settings.choices;
    own.explain |= !task.plan && is_explained_at_once(*points[i].point, settings);
    study[i] = study_point(*points[i].point, std::move(own));
  }
  batch.limits = settings.limits;
  return run_points(study, which, settings.jobs, batch, Shown::on_terminals,
                    task.plan ? nullptr : settings.store);
}

// Simulates points in the order of their planned times. Stops a point that takes more than kLosing
// times as long as the best point of its workload.
class ComparedRuns {
 public:
  ComparedRuns(std::vector<ComparedPoint>& points, const ComparisonSettings& settings)
      : points_(points), settings_(settings), planned_(points.size()) {}

  // Returns the signal that stopped the simulations, or 0.
  [[nodiscard]] int simulate() {
    std::vector<std::size_t> order = every_one(points_.size());
    std::vector<std::size_t> planned;
    std::copy_if(order.begin(), order.end(), std::back_inserter(planned),
                 [&](std::size_t i) { return collective_of(i) != nullptr; });
    WorkerBatch planning;
    planning.finished = [&](std::size_t i, const WorkerReport& report) {
      planned_[i] = report.result;
      return true;
    };
    if (const int signal = run(points_, planned, {true}, settings_, planning); signal != 0) {
      return signal;
    }
    // auto takes the fastest of all, and NCCL's choices never lose. The largest begin first,
    // because they take longest. Algorithms without a plan may take any time, and what is proven
    // slowly is simulated if nothing else is.
    const auto expected = [&](std::size_t i) {
      const CollectiveConfig* collective = collective_of(i);
      if (collective != nullptr &&
          (collective->algorithm == kAutoAlgorithm || !collective->choice.empty())) {
        return -static_cast<double>(collective->size);
      }
      return is_proven_slowly(i) ? kNoLimit : number_of(i, "planned_ns", kNoLimit);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return expected(a) < expected(b); });
    WorkerBatch simulating;
    simulating.loses = [&](std::size_t i, Cycle cycles) { return loses(i, cycles); };
    simulating.finished = [&](std::size_t i, const WorkerReport& report) {
      take(i, report);
      return true;
    };
    if (const int signal = run(points_, order, {}, settings_, simulating); signal != 0) {
      return signal;
    }
    // Whether a point ended before the best time was known must not show.
    for (std::size_t i = 0; i < points_.size(); ++i) finish(i);
    return 0;
  }

 private:
  // nullptr if the point is more than one collective, whose time is not that of the run.
  [[nodiscard]] const CollectiveConfig* collective_of(std::size_t i) const {
    const RunPoint& point = *points_[i].point;
    if (point.training || point.workload || point.coordination) return nullptr;
    return &*point.collective;
  }
  // Nodes, operation and size: points compete only with the same.
  using Workload = std::tuple<std::size_t, CollectiveOp, Bytes>;
  [[nodiscard]] Workload key_of(std::size_t i) const {
    return {points_[i].nodes, collective_of(i)->op, collective_of(i)->size};
  }
  // The time from which on point `i` loses; infinite while its workload has no time, for auto,
  // which has no plan, and for NCCL's choice, whose time users ask for.
  [[nodiscard]] double limit_ns(std::size_t i) const {
    const CollectiveConfig* collective =
        settings_.full || planned_[i].is_null() ? nullptr : collective_of(i);
    const bool may_lose = collective != nullptr && collective->choice.empty();
    const auto best = may_lose ? best_ns_.find(key_of(i)) : best_ns_.end();
    return best == best_ns_.end() ? kNoLimit : kLosing * best->second;
  }
  // Whether point `i`, which takes at least so many cycles, is not simulated to the end. A program
  // of the user is certified first, so it begins; if it is not certified, its data tell, so it
  // ends.
  [[nodiscard]] bool loses(std::size_t i, Cycle cycles) const {
    const double limit = limit_ns(i);
    const bool is_own = collective_of(i) != nullptr && collective_of(i)->program.given;
    const bool is_certified = points_[i].point->simulation.check;
    if (limit == kNoLimit || (is_own && (cycles == 0 || !is_certified))) return false;
    return is_proven_slowly(i) || number_of(i, "least_ns", 0) > limit ||
           nanoseconds(cycles, points_[i].point->system.clock) > limit;
  }
  void take(std::size_t i, const WorkerReport& report) {
    points_[i].report = report;
    const CollectiveConfig* collective = collective_of(i);
    const bool is_time = report.failure.empty() && !report.stopped;
    // What is proven slowly sets no limit: with fewer processes at once it may not be simulated.
    if (collective == nullptr || !is_time || is_proven_slowly(i)) return;
    double& best = best_ns_.try_emplace(key_of(i), kNoLimit).first->second;
    best = std::min(best, number_in(report.result, field::time_ns).value_or(kNoLimit));
  }
  void finish(std::size_t i) {
    WorkerReport& report = points_[i].report;
    report.stopped = report.stopped || loses(i, 0) ||
                     (report.failure.empty() && limit_ns(i) != kNoLimit &&
                      loses(i, report.result.value("cycles", Cycle{0})));
    if (report.stopped) report.result = stopped_result(i);
    if (!report.result.is_object()) return;
    // The tables may name a generator that is compared, too; the file's name is the user's.
    if (!points_[i].schedule.empty()) report.result["algorithm"] = label(i);
    if (planned_[i].contains("planned_ns")) {
      report.result["planned_ns"] = planned_[i]["planned_ns"];
    }
  }
  // Stands for a run that was not simulated to the end.
  [[nodiscard]] Json stopped_result(std::size_t i) const {
    const double limit = limit_ns(i);
    const bool is_planned_to_lose = number_of(i, "least_ns", 0) > limit;
    const bool is_slow = is_proven_slowly(i) && !is_planned_to_lose;
    Json result = planned_[i];
    result.erase("least_ns");
    result.erase("is_proven_slowly");
    result["verified"] = false;
    result["failure"] = is_slow ? kProvenSlowly : is_planned_to_lose ? kPlannedToLose : kLoses;
    result["stopped_ns"] = is_slow ? Json() : Json(limit);
    return result;
  }
  // The name of a point in the table.
  [[nodiscard]] std::string label(std::size_t i) const {
    if (!points_[i].schedule.empty())
      return std::filesystem::path(points_[i].schedule).filename().string();
    const CollectiveConfig& collective = *points_[i].point->collective;
    return collective.program.given ? program_label(collective.program) : collective.algorithm;
  }

  [[nodiscard]] double number_of(std::size_t i, const char* name, double otherwise) const {
    return planned_[i].is_null() ? otherwise : planned_[i].value(name, otherwise);
  }
  [[nodiscard]] bool is_proven_slowly(std::size_t i) const {
    return !planned_[i].is_null() && planned_[i].value("is_proven_slowly", false);
  }

  std::vector<ComparedPoint>& points_;
  const ComparisonSettings& settings_;
  std::vector<Json> planned_;  // plan_run(); null but for runs of one collective without auto
  std::map<Workload, double> best_ns_;
};

}  // namespace

int compare_points(std::vector<ComparedPoint>& points, const ComparisonSettings& settings) {
  return ComparedRuns(points, settings).simulate();
}

int explain_points(std::vector<ComparedPoint>& points, const std::vector<std::size_t>& which,
                   const ComparisonSettings& settings) {
  std::vector<std::size_t> explained;
  for (const std::size_t i : which) {
    const RunPoint& point = *points[i].point;
    if (!point.workload && !point.coordination) explained.push_back(i);
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Json& result = points[i].report.result;
    const bool is_best = std::find(explained.begin(), explained.end(), i) != explained.end();
    const bool has_one = result.is_object() && result.contains("explanation");
    if (is_best && !has_one) open.push_back(i);
    if (!is_best && has_one) result.erase("explanation");
  }
  WorkerBatch batch;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    if (report.result.contains("explanation")) {
      points[i].report.result["explanation"] = report.result["explanation"];
    } else {
      tell(stderr, "warning: {} cannot be explained: {}\n", points[i].name, report.failure);
    }
    return true;
  };
  if (const int signal = run(points, open, {false, true}, settings, batch); signal != 0) {
    return signal;
  }
  std::vector<ExplainedRun> runs;
  runs.reserve(explained.size());
  for (const std::size_t i : explained) {
    runs.push_back({points[i].point, points[i].schedule, &points[i].report.result});
  }
  return compare_without_lockstep(runs, settings.jobs, settings.store);
}

}  // namespace espalier
