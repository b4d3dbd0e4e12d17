#include "sims/experiment/point_worker.h"

#include <fmt/format.h>

#include <exception>
#include <istream>
#include <new>
#include <optional>
#include <stdexcept>

#include "alg/rank_order/permutation.h"
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
    if (task.plan) return plan_run(*read.topology, read.points.front(), tables.value);
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

std::string worker_input(const nlohmann::ordered_json& config, const std::string& folder,
                         const FileHashes& files, const WorkerTask& task) {
  return nlohmann::ordered_json{{"config", config.dump()},   {"folder", folder},
                                {"files", to_words(files)},  {"plan", task.plan},
                                {"explain", task.explain},   {"schedule", task.schedule},
                                {"choices", task.choices},   {"rank_order", task.rank_order},
                                {"messages", task.messages}, {"number", task.number}}
      .dump();
}

std::vector<std::string> worker_command() { return {"/proc/self/exe", "worker"}; }

int run_points(const std::vector<WorkerPoint>& points, unsigned jobs, WorkerBatch batch) {
  ProgressBar bar(points.size());
  batch.input = [&](std::size_t i) {
    const RunPoint& point = *points[i].point;
    return worker_input(resolved_json(point), point.system.topology.folder, point.file_hashes,
                        points[i].task);
  };
  if (!batch.progress) batch.progress = [&](std::size_t i, double done) { bar.update(i, done); };
  return run_workers(worker_command(), points.size(), jobs_at_once(jobs), batch);
}

bool work_on_point(std::istream& input) {
  report_when_out_of_memory();
  const auto asked = nlohmann::json::parse(input, nullptr, false);
  if (!asked.is_object()) {
    throw std::invalid_argument("expected a point on stdin; espalier run starts workers itself");
  }
  WorkerTask task;
  task.plan = asked.at("plan");
  task.explain = asked.at("explain");
  task.schedule = asked.at("schedule");
  task.choices = asked.at("choices");
  task.rank_order = asked.at("rank_order").get<std::vector<std::uint32_t>>();
  task.messages = asked.at("messages");
  task.number = asked.at("number");
  const PointReport report =
      simulate(asked.at("config"), asked.at("folder"), asked.at("files"), task);
  write_worker_report(report);
  return report.failure.empty();
}

}  // namespace espalier
