#include "sims/study/sweep_runner.h"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "sims/study/study.h"
#include "sims/text/people.h"

namespace espalier {

namespace {

void say_failure(const StudyPoint& point, const std::string& failure) {
  tell(stderr, "{} {}: failed: {}\n", point.id, set_text(point.set), failure);
}

void say_problem(const StoredPoint& point) {
  if (!point.problem.empty())
    tell(stderr, "warning: {}; simulating the point again\n", point.problem);
}

// Returns the points that need a simulation, and counts the others.
std::vector<std::size_t> open_points(const SweepPlan& plan, const PointStore& store,
                                     const SweepRunSettings& settings, SweepTally& tally) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const StudyPoint& point = plan.points[i];
    const bool is_ours =
        settings.only_id.empty() ? settings.shard.has(i) : point.id == settings.only_id;
    if (!is_ours) continue;
    ++tally.points;
    if (settings.only_id.empty()) {
      const StoredPoint finished = store.finished(point.id, point.config_hash);
      if (finished.document) {
        ++tally.finished_before;
        const std::string version = finished.document->value("version", "");
        if (version != settings.version) ++tally.other_versions[version];
        continue;
      }
      say_problem(finished);
    }
    if (settings.keep_failed) {
      const StoredPoint failed = store.failed(point.id);
      if (failed.document) {
        ++tally.failed;
        say_failure(point, failed.document->at("failure").get<std::string>());
        continue;
      }
      say_problem(failed);
    }
    open.push_back(i);
  }
  return open;
}

}  // namespace

ParsedShard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  // Text that is not a number gives 0, which is not a valid shard.
  const std::size_t index = parse_number(text.substr(0, slash)).value_or(0);
  const std::size_t of =
      parse_number(slash == std::string::npos ? "" : text.substr(slash + 1)).value_or(0);
  if (index == 0 || index > of)
    return {std::nullopt,
            fmt::format("'{}' is not a shard; the shards of four are 1/4 to 4/4", text)};
  return {Shard{index - 1, of}, {}};
}

SweepTally run_sweep(const SweepPlan& plan, const PointStore& store,
                     const SweepRunSettings& settings) {
  SweepTally tally;
  const std::vector<std::size_t> open = open_points(plan, store, settings, tally);
  WorkerBatch batch;
  batch.limits = settings.limits;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    const StudyPoint& point = plan.points[i];
    const std::string command = fmt::format("{} --point {}", settings.command, point.id);
    const bool good = report.kind == FailureKind::none;
    if (!good) say_failure(point, report.failure);
    if (store.keep(point, report, {command, settings.version})) {
      ++(good ? tally.finished_now : tally.failed);
    } else {
      // `writable` stays false: points in flight end after this one, and their files may be written
      // successfully.
      tally.writable = false;
    }
    return tally.writable;
  };
  tally.signal = run_points(plan.points, open, settings.at_once, batch, Shown::in_logs_too);
  return tally;
}

}  // namespace espalier
