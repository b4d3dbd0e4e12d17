#include "sims/study/compared_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sims/experiment/result_fields.h"
#include "sims/point/config.h"
#include "sims/study/study.h"
#include "sims/text/people.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kLargeWait = 0.2;
constexpr double kNoChange = 0.1;  // percent

bool waits_for_lockstep(const ExplainedRun& run) {
  const Json* const found = find_field(*run.result, field::explanation);
  if (run.point->system.ni.lockstep == LockstepMode::off || found == nullptr) return false;
  const Json& explanation = *found;
  const Json& totals = explanation.at("totals");
  const bool is_at_bound = text_in(*run.result, field::explanation_limit_kind) == "bound";
  return totals.contains("lockstep_wait") && explanation.contains("verdict") && !is_at_bound &&
         totals.at("lockstep_wait").get<double>() >=
             kLargeWait * explanation.at("cycles").get<double>();
}

std::string comparison(const Json& with, const Json& without) {
  const auto before = find_field(with, field::cycles)->get<std::uint64_t>();
  const auto after = find_field(without, field::cycles)->get<std::uint64_t>();
  const std::string verdict = text_in(without, field::explanation_verdict).value_or("");
  const double change = 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
  if (std::abs(change) < kNoChange) {
    return fmt::format(" Turning lockstep off changes {}: {} instead of {} cycles. There: {}",
                       before == after ? "nothing" : "almost nothing", after, before, verdict);
  }
  return fmt::format(" Without lockstep the run takes {} cycles, {:+.1f} %. There: {}", after,
                     change, verdict);
}

}  // namespace

int compare_without_lockstep(const std::vector<ExplainedRun>& runs, unsigned jobs,
                             RunStore* store) {
  std::vector<const ExplainedRun*> held;
  std::vector<StudyPoint> points;
  WorkerTask task;
  task.explain = true;
  for (const ExplainedRun& run : runs) {
    if (!waits_for_lockstep(run)) continue;
    held.push_back(&run);
    RunPoint point = *run.point;
    point.system.ni.lockstep = LockstepMode::off;
    // Without lockstep an NI counts no steps down, so a skew has only its cycles.
    std::vector<ClockSkew>& skews = point.faults.clock_skew;
    for (ClockSkew& skew : skews) skew.per_step = 0;
    skews.erase(std::remove_if(skews.begin(), skews.end(),
                               [](const ClockSkew& skew) { return skew.cycles == 0; }),
                skews.end());
    task.schedule = run.schedule;
    points.push_back(study_point(point, task));
  }
  WorkerBatch batch;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    Json& result = *held[i]->result;
    if (!report.failure.empty() || find_field(report.result, field::explanation) == nullptr) {
      tell(stderr, "warning: the run without lockstep cannot be explained: {}\n", report.failure);
      return true;
    }
    Json& explanation = result["explanation"];
    const std::string verdict = explanation["verdict"].get<std::string>();
    explanation["verdict"] = verdict + comparison(result, report.result);
    explanation["without_lockstep"]["cycles"] = *find_field(report.result, field::cycles);
    explanation["without_lockstep"]["verdict"] =
        *find_field(report.result, field::explanation_verdict);
    return true;
  };
  return run_points(points, every_one(points.size()), jobs, batch, Shown::nothing, store);
}

}  // namespace espalier
