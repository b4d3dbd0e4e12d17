#include "sims/silicon/silicon_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sims/config/reader.h"
#include "sims/config/resolved.h"
#include "sims/experiment/point_worker.h"
#include "sims/experiment/progress.h"
#include "sims/experiment/workers.h"

namespace espalier {

namespace {

// Of a result whose clock is `hertz`.
double microseconds_of(const nlohmann::ordered_json& result, std::uint64_t hertz) {
  return result.value("cycles", 0.0) * 1e6 / static_cast<double>(hertz);
}

}  // namespace

struct SiliconRuns::Run {
  const std::vector<std::string>* settings;
  RunPoint point;
  std::string key;
};

SiliconRuns::SiliconRuns(const std::string& program, std::size_t at_once, const std::string& folder)
    : program_(program), at_once_(at_once) {
  if (folder.empty()) return;
  cache_.emplace(folder, program);
  if (!cache_->open()) cache_.reset();
}

std::optional<std::vector<CaseTime>> SiliconRuns::times_of(const std::vector<CasePlan>& plans) {
  std::vector<Run> open;
  for (const CasePlan& plan : plans) {
    for (const PlannedRun& planned : plan.runs) {
      const auto [entry, is_new] = known_.try_emplace(planned.settings);
      if (!is_new) continue;
      ConfigResult config =
          read_run_config_text("measured case", "collective: {}", {}, planned.settings);
      if (!config.ok || config.points.size() != 1) {
        entry->second.failure = config.diagnostics;
        continue;
      }
      Run run{&entry->first, std::move(config.points.front()), {}};
      if (cache_) {
        run.key = cache_->key_of(run.point);
        if (const auto kept = cache_->find(run.key)) {
          entry->second.microseconds = microseconds_of(*kept, run.point.system.clock.hertz);
          continue;
        }
      }
      open.push_back(std::move(run));
    }
  }
  if (!simulate(open)) return std::nullopt;
  std::vector<CaseTime> times;
  for (const CasePlan& plan : plans) {
    CaseTime& time = times.emplace_back();
    time.microseconds = plan.added_microseconds;
    for (const PlannedRun& planned : plan.runs) {
      const CaseTime& run = known_.at(planned.settings);
      time.microseconds += planned.weight * run.microseconds;
      if (!run.failure.empty()) time.failure = run.failure;
    }
    time.microseconds = std::max(time.microseconds, plan.host_microseconds);
  }
  return times;
}

bool SiliconRuns::simulate(std::vector<Run>& runs) {
  if (runs.empty()) return true;
  // The longest simulation starts first.
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.point.collective->size > b.point.collective->size;
  });
  ProgressBar bar(runs.size());
  WorkerBatch batch;
  batch.arguments = [&](std::size_t i) {
    const RunPoint& point = runs[i].point;
    return worker_arguments(resolved_json(point), point.system.topology.folder, point.file_hashes);
  };
  batch.progress = [&](std::size_t i, double done) { bar.update(i, done); };
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    CaseTime& time = known_[*runs[i].settings];
    time.failure = report.failure;
    if (!time.failure.empty()) return true;
    time.microseconds = microseconds_of(report.result, runs[i].point.system.clock.hertz);
    ++simulations_;
    // A point that cannot be kept is simulated again next time.
    if (cache_) static_cast<void>(cache_->keep(runs[i].key, runs[i].point, report.result));
    return true;
  };
  signal_ = run_workers(program_, runs.size(), at_once_, batch);
  return signal_ == 0;
}

}  // namespace espalier
