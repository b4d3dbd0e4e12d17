#include "sims/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <istream>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "alg/rank_order/permutation.h"
#include "sims/config/keys.h"
#include "sims/config/reader.h"
#include "sims/config/resolved.h"
#include "sims/experiment/message_log.h"
#include "sims/formats/schedule_file.h"
#include "sims/observe/explain/run_account.h"
#include "sims/point/config.h"
#include "sims/study/run_store.h"

namespace espalier {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkerTask, plan, explain, schedule, choices, rank_order,
                                   messages, number)

namespace {

using Json = nlohmann::ordered_json;

RankOrder sorted(RankOrder order) {
  std::sort(order.begin(), order.end());
  return order;
}

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
    const std::string gone = removed_file(files, read.file_hashes);
    report.failure = gone.empty() ? read.diagnostics : changed_file_error(gone);
    return report;
  }
  FileResult<ScheduleTables> tables;
  if (schedule.value) tables = schedule.value->read_tables(*read.topology);
  if (const std::string& error = schedule.value ? tables.error : schedule.error; !error.empty()) {
    report.failure = fmt::format("{}: {}", task.schedule, error);
    return report;
  }
  if (!task.rank_order.empty()) {
    if (!read.points.front().collective ||
        sorted(task.rank_order) != identity_permutation(read.topology->num_nodes())) {
      report.failure = "expected an order of all nodes for a collective";
      return report;
    }
    read.points.front().collective->rank_order.nodes = to_nodes(task.rank_order);
  }
  SimulationHooks hooks;
  Cycle least = 0;
  hooks.at_least = [&](Cycle cycles) { least = cycles; };
  hooks.progress = [&](double done) { write_worker_progress(done, least); };
  RunAccount account;
  try {
    if (task.plan) return plan_run(*read.topology, read.points.front(), tables.value);
    report = simulate_here(*read.topology, read.points.front(), tables.value, hooks,
                           task.explain ? &account : nullptr, task);
  } catch (const std::bad_alloc&) {
    // Memory ran out in code that did not ask the handler first.
    report_out_of_memory();
  } catch (const std::exception& error) {
    report.failure = error.what();
  }
  return report;
}

// The resolved configuration, and a hash of the text of each file that it names, as that text was
// read for the point.
Json content_of(const RunPoint& point) {
  Json content;
  content["config"] = resolved_json(point);
  const std::filesystem::path folder = point.system.topology.folder;
  for (const Key& key : keys()) {
    const bool is_used = key.resolved && has_section_of(point, key) && key.applies_at(point);
    if (!is_used || key.shape.type != ValueType::text) continue;
    const std::string text = key.get(point).text;
    // A word such as "random" is not the name of a file.
    if (!key.shape.zero_word.empty() && !is_path(text, key.shape)) continue;
    if (text.empty()) {
      content["files"][key.name] = hash_text(text);  // the value is not a file
      continue;
    }
    // The hash is of the text that the reader saw: the file may have changed since.
    const auto hash = point.file_hashes.find((folder / text).string());
    if (hash == point.file_hashes.end())
      throw std::logic_error(key.name + ": the file was named but not read: " + text);
    content["files"][key.name] = hash->second;
  }
  return content;
}

}  // namespace

StudyPoint study_point(const RunPoint& point, WorkerTask task) {
  StudyPoint made;
  Json content = content_of(point);
  if (!task.schedule.empty()) content["schedule"] = point.file_hashes.at(task.schedule);
  if (task.explain) content["explain"] = true;
  made.id = hash_of(content);
  made.config = content["config"].dump();
  made.config_hash = hash_of(content["config"]);
  made.folder = point.system.topology.folder;
  made.files = point.file_hashes;
  made.task = std::move(task);
  return made;
}

std::vector<std::size_t> every_one(std::size_t points) {
  std::vector<std::size_t> all(points);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

int run_points(const std::vector<StudyPoint>& points, const std::vector<std::size_t>& which,
               unsigned jobs, const WorkerBatch& batch, Shown shown, RunStore* store) {
  std::vector<std::size_t> open;
  for (const std::size_t i : which) {
    const auto kept = store == nullptr ? std::nullopt : store->recall(points[i]);
    if (!kept) open.push_back(i);
    if (kept && !batch.finished(i, *kept)) return 0;
  }
  Progress progress(open.size(), shown);
  WorkerBatch workers;
  workers.limits = batch.limits;
  workers.input = [&](std::size_t k) {
    const StudyPoint& point = points[open[k]];
    return nlohmann::json{{"config", point.config},
                          {"folder", point.folder},
                          {"files", to_words(point.files)},
                          {"task", point.task}}
        .dump();
  };
  workers.progress = [&](std::size_t k, double done) { progress.update(k, done); };
  workers.finished = [&](std::size_t k, const WorkerReport& report) {
    progress.count(report.kind != FailureKind::none);
    if (store != nullptr) store->add(points[open[k]], report);
    return batch.finished(open[k], report);
  };
  if (batch.loses) {
    workers.loses = [&](std::size_t k, Cycle cycles) { return batch.loses(open[k], cycles); };
  }
  // The program that runs.
  return run_workers({"/proc/self/exe", "worker"}, open.size(), jobs_at_once(jobs), workers);
}

PointReport simulate_here(const Topology& topology, const RunPoint& point,
                          const std::optional<ScheduleTables>& tables, SimulationHooks hooks,
                          RunAccount* account, const WorkerTask& task) {
  std::optional<MessageLog> log;
  if (!task.messages.empty()) {
    log.emplace(task.messages, task.number, topology, point.traffic.has_value());
    hooks.delivered = [&log](const Operation& message, Cycle now) { log->note(message, now); };
  }
  PointReport report = run_point(topology, point, tables, hooks, account, task.choices);
  // If the lines cannot be written, the parent finds them missing and reports that.
  if (log) static_cast<void>(log->finish());
  return report;
}

bool work_on_point(std::istream& input) {
  report_when_out_of_memory();
  try {
    const auto asked = nlohmann::json::parse(input);
    const std::string config = asked.at("config");
    const std::string folder = asked.at("folder");
    const std::vector<std::string> files = asked.at("files");
    const PointReport report = simulate(config, folder, files, asked.at("task"));
    write_worker_report(report);
    return report.failure.empty();
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument("expected a point on stdin; espalier run starts workers itself");
  }
}

}  // namespace espalier
