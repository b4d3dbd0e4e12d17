#include "sims/experiment/point_worker.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>

#include "alg/rank_order/permutation.h"
#include "sims/choose/choose.h"
#include "sims/config/reader.h"
#include "sims/config/resolved.h"
#include "sims/experiment/message_log.h"
#include "sims/experiment/progress.h"
#include "sims/formats/schedule_file.h"
#include "sims/observe/explain/run_account.h"

namespace espalier {

namespace {

PointReport simulate(const std::string& config, const std::string& folder,
                     const std::vector<std::string>& files, const WorkerTask& task) {
  PointReport report;
  ConfigResult read = read_run_config_text("point", config, folder);
  FileResult<ScheduleDocument> schedule;
  if (!task.schedule.empty()) {
    schedule = ScheduleDocument::load(task.schedule, read.file_hashes);
  }
  if (const std::string changed = changed_file(files, read.file_hashes); !changed.empty()) {
    report.failure = changed_file_error(changed);
    return report;
  }
  if (!read.ok || read.points.size() != 1) {
    report.failure = read.diagnostics;
    return report;
  }
  FileResult<ScheduleTables> tables;
  if (schedule.value) tables = schedule.value->read_tables(*read.topology);
  if (const std::string& error = schedule.value ? tables.error : schedule.error; !error.empty()) {
    report.failure = fmt::format("{}: {}", task.schedule, error);
    return report;
  }
  if (!task.rank_order.empty()) {
    read.points.front().collective->rank_order.nodes = to_nodes(task.rank_order);
  }
  SimulationHooks hooks;
  Cycle least = 0;
  hooks.at_least = [&](Cycle cycles) { least = cycles; };
  hooks.progress = [&](double done) { write_worker_progress(done, least); };
  std::optional<MessageLog> log;
  if (!task.messages.empty()) {
    log.emplace(task.messages, task.number, *read.topology,
                read.points.front().traffic.has_value());
    hooks.delivered = [&log](const Operation& message, Cycle now) { log->note(message, now); };
  }
  RunAccount account;
  if (task.explain) hooks.observers.push_back(&account.recorder());
  try {
    if (task.plan) {
      if (const auto planned = planned_time(*read.topology, read.points.front())) {
        report.result["planned_ns"] = planned->ns;
        report.result["is_proven_slowly"] = planned->is_proven_slowly;
      }
      return report;
    }
    report = run_point(*read.topology, read.points.front(), tables.value, hooks,
                       task.explain ? &account : nullptr, task.choices);
    // If the lines cannot be written, the parent finds them missing and reports that.
    if (log) static_cast<void>(log->finish());
  } catch (const std::bad_alloc&) {
    // Memory ran out in code that did not ask the handler first.
    report_out_of_memory();
  } catch (const std::exception& error) {
    report.failure = error.what();
  }
  return report;
}

}  // namespace

std::vector<std::string> worker_arguments(const nlohmann::ordered_json& config,
                                          const std::string& folder, const FileHashes& files,
                                          const WorkerTask& task) {
  std::vector<std::string> arguments{"worker"};
  if (task.plan) arguments.emplace_back("--plan");
  if (task.explain) arguments.emplace_back("--explain");
  if (!task.schedule.empty()) arguments.insert(arguments.end(), {"--schedule", task.schedule});
  if (!task.choices.empty()) arguments.insert(arguments.end(), {"--choices", task.choices});
  if (!task.messages.empty()) {
    arguments.insert(arguments.end(),
                     {"--messages", task.messages, "--number", std::to_string(task.number)});
  }
  if (!task.rank_order.empty()) {
    arguments.insert(arguments.end(),
                     {"--rank-order", fmt::format("{}", fmt::join(task.rank_order, ","))});
  }
  arguments.insert(arguments.end(), {config.dump(), folder});
  for (std::string& file : to_words(files)) arguments.push_back(std::move(file));
  return arguments;
}

int run_points(const std::vector<WorkerPoint>& points, unsigned jobs, WorkerBatch batch) {
  ProgressBar bar(points.size());
  batch.arguments = [&](std::size_t i) {
    const RunPoint& point = *points[i].point;
    return worker_arguments(resolved_json(point), point.system.topology.folder, point.file_hashes,
                            points[i].task);
  };
  if (!batch.progress) batch.progress = [&](std::size_t i, double done) { bar.update(i, done); };
  return run_workers(kThisProgram, points.size(), jobs_at_once(jobs), batch);
}

bool work_on_point(const std::vector<std::string>& arguments, const WorkerTask& task) {
  report_when_out_of_memory();
  const PointReport report =
      simulate(arguments.at(0), arguments.at(1), {arguments.begin() + 2, arguments.end()}, task);
  write_worker_report(report);
  return report.failure.empty();
}

}  // namespace espalier
