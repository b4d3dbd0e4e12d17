#include "sims/report/figure/figure_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/experiment/point_content.h"
#include "sims/experiment/point_worker.h"
#include "sims/experiment/progress.h"
#include "sims/experiment/whole_file.h"
#include "sims/experiment/workers.h"
#include "sims/text/file_hashes.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Settings by dotted key, in the order of the registry. Unlike json::flatten, a list stays one
// value.
std::vector<std::pair<std::string, Json>> settings_of(const Json& section,
                                                      const std::string& name = {}) {
  std::vector<std::pair<std::string, Json>> settings;
  for (const auto& [key, value] : section.items()) {
    const std::string inner = join_key(name, key);
    if (!value.is_object()) {
      settings.emplace_back(inner, value);
      continue;
    }
    for (auto& setting : settings_of(value, inner)) settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace

FigureJobs::FigureJobs(std::vector<FigureResult>& figures, const PointCache& cache)
    : figures_(figures), cache_(cache) {
  std::map<std::string, std::size_t> by_key;
  for (std::size_t f = 0; f < figures.size(); ++f) {
    auto& of_figure = index_.emplace_back();
    for (std::size_t p = 0; p < figures[f].figure.panels.size(); ++p) {
      auto& of_panel = of_figure.emplace_back();
      for (const FigurePoint& point : figures[f].figure.panels[p].points) {
        const std::string key = cache.key_of(point.point);
        const auto [found, is_new] = by_key.emplace(key, jobs_.size());
        if (is_new) {
          FigureJob& job = jobs_.emplace_back();
          job.key = key;
          job.point = &point.point;
          job.result = cache.find(key);
          job.kept = job.result.has_value();
        }
        jobs_[found->second].uses.push_back({f, p});
        of_panel.push_back(found->second);
      }
    }
  }
}

const FigureJob& FigureJobs::job_of(std::size_t f, std::size_t p, std::size_t i) const {
  return jobs_[index_[f][p][i]];
}

bool FigureJobs::check(const FigureJob& job) {
  bool good = true;
  for (const FigureJob::Use& use : job.uses) {
    FigureResult& figure = figures_[use.figure];
    check_fields(figure.figure.panels[use.panel], *job.result, figure.diagnostics);
    good = good && figure.diagnostics.num_errors() == 0;
  }
  return good;
}

FigureRun FigureJobs::run(const std::string& program, std::size_t at_once) {
  std::vector<FigureJob*> open;
  for (FigureJob& job : jobs_) {
    if (!job.result) {
      open.push_back(&job);
    } else if (!check(job)) {
      return {};
    }
  }
  // The longest simulation starts first, so that no processor waits for it at the end.
  const auto bytes = [](const FigureJob* job) {
    return job->point->collective ? job->point->collective->size : 0;
  };
  std::stable_sort(open.begin(), open.end(),
                   [&](const FigureJob* a, const FigureJob* b) { return bytes(a) > bytes(b); });
  ProgressBar bar(open.size());
  FigureRun run;
  WorkerBatch batch;
  batch.arguments = [&](std::size_t i) {
    const RunPoint& point = *open[i]->point;
    return worker_arguments(resolved_json(point), point.system.topology.folder, point.file_hashes);
  };
  batch.progress = [&](std::size_t i, double done) { bar.update(i, done); };
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    FigureJob& job = *open[i];
    job.failure = report.failure;
    if (!job.failure.empty()) return true;
    job.result = report.result;
    if (!cache_.keep(job.key, *job.point, report.result))
      run.problem = fmt::format("results cannot be kept in {}", cache_.folder().string());
    return run.problem.empty() && check(job);
  };
  run.signal = run_workers(program, open.size(), at_once, batch);
  return run;
}

std::vector<std::vector<std::string>> point_names(const Figure& figure) {
  std::map<std::string, std::set<std::string>> values;
  std::vector<std::vector<std::vector<std::pair<std::string, Json>>>> configs;
  for (const Panel& panel : figure.panels) {
    auto& of_panel = configs.emplace_back();
    for (const FigurePoint& point : panel.points) {
      of_panel.push_back(settings_of(resolved_json(point.point)));
      for (const auto& [key, value] : of_panel.back()) {
        values[key].insert(value.dump());
      }
    }
  }
  std::vector<std::vector<std::string>> names;
  for (const auto& of_panel : configs) {
    auto& texts = names.emplace_back();
    for (const auto& config : of_panel) {
      std::string text;
      for (const auto& [key, value] : config) {
        if (values[key].size() == 1) continue;
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value_text(value));
      }
      texts.push_back(text);
    }
  }
  return names;
}

namespace {

namespace fs = std::filesystem;
}  // namespace

PointCache::PointCache(fs::path folder, const std::string& program)
    : folder_(std::move(folder)),
      program_hash_(hash_of(Json(hash_text(read_file_bytes(program).text.value_or(""))))) {}

bool PointCache::open() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_, error)) return false;
  remove_unfinished_files(folder_);
  return can_write_in(folder_);
}

std::string PointCache::key_of(const RunPoint& point) const {
  Json all;
  all["program"] = program_hash_;
  all.update(point_content(point));
  return hash_of(all);
}

fs::path PointCache::file_of(const std::string& key) const { return folder_ / (key + ".json"); }

std::optional<Json> PointCache::find(const std::string& key) const {
  const FileText file = read_file_bytes(file_of(key).string());
  if (!file.text) return std::nullopt;
  const Json document = Json::parse(*file.text, nullptr, false);
  if (!document.is_object() || document.value("key", Json()) != key) return std::nullopt;
  const auto result = document.find("result");
  if (result == document.end() || document.value("result_hash", Json()) != hash_of(*result))
    return std::nullopt;
  return *result;
}

bool PointCache::keep(const std::string& key, const RunPoint& point, const Json& result) const {
  Json document;
  document["key"] = key;
  document["config"] = resolved_json(point);
  document["result"] = result;
  document["result_hash"] = hash_of(result);
  return write_whole_file(file_of(key), document.dump(2) + "\n");
}

}  // namespace espalier
