// espalier compare: every algorithm that suits a network, ranked by simulated time.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sims/cli/auto_folder.h"
#include "sims/cli/commands.h"
#include "sims/cli/comparison.h"
#include "sims/cli/input.h"
#include "sims/cli/lockstep_check.h"
#include "sims/cli/output.h"
#include "sims/cli/results_document.h"
#include "sims/experiment/point_worker.h"
#include "sims/formats/published_times_file.h"
#include "sims/formats/schedule_file.h"
#include "sims/model/build_program.h"
#include "sims/point/fidelity.h"
#include "sims/text/diagnostics.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

std::nullopt_t no_input(const std::string& path, const std::string& why) {
  fmt::print(stderr, "{}: error: {}\n", path, why);
  return std::nullopt;
}

// The schedule in `path` on the network of `main`, once for each setting that `main` varies.
std::optional<Input> schedule_beside(const std::string& path, const Input& main) {
  Input input;
  input.path = path;
  input.topology = main.topology;
  input.file_hashes = main.file_hashes;
  const auto document = ScheduleDocument::load(path, input.file_hashes);
  if (!document.value) return no_input(document.place_in(path), document.error);
  auto tables = document.value->read_tables(*main.topology);
  if (!tables.value) {
    return no_input(
        tables.place_in(path),
        fmt::format("the schedule does not fit the network of {}: {}", main.path, tables.error));
  }
  input.tables = std::move(tables.value);
  // The points of one schedule generator have each setting once, with the keys of a run of tables.
  const auto runs_tables = [](const RunPoint& point) {
    return find_generator(point.collective->algorithm) != nullptr;
  };
  const auto model = std::find_if(main.points.begin(), main.points.end(), runs_tables);
  if (model == main.points.end()) {
    return no_input(path,
                    fmt::format("no schedule generator is compared in {}; add one, for example "
                                "-s collective.algorithm='[ring, ...]'",
                                main.path));
  }
  if (model->training || model->coordination) {
    return no_input(path, "schedules are not compared in training");
  }
  const std::string name = model->collective->algorithm;
  for (RunPoint point : main.points) {
    CollectiveConfig& collective = *point.collective;
    if (collective.algorithm != name || collective.op != input.tables->op ||
        collective.size != input.tables->size) {
      continue;
    }
    if (find_generator(input.tables->algorithm) != nullptr) {
      collective.algorithm = input.tables->algorithm;
    }
    point.file_hashes = input.file_hashes;
    input.points.push_back(std::move(point));
  }
  if (!input.points.empty()) return input;
  return no_input(path, fmt::format("the schedule is an {} of {} B, which is not compared in {}; "
                                    "generate it again for the operation and size of that "
                                    "configuration",
                                    to_string(input.tables->op), input.tables->size, main.path));
}

// Adds the times in `path`. Returns false after an error.
bool add_published_times(const std::string& path, std::vector<PublishedTime>& times) {
  const FileText file = read_file_text(path);
  if (!file.text) {
    no_input(path, file.problem);
    return false;
  }
  Diagnostics diagnostics;
  const auto read = parse_published_times(path, *file.text, diagnostics);
  fmt::print(stderr, "{}", diagnostics.text());
  if (!read) return false;
  times.insert(times.end(), read->begin(), read->end());
  return true;
}

std::optional<std::vector<Input>> load(const CompareOptions& options,
                                       std::vector<SkippedAlgorithm>& skipped,
                                       std::vector<PublishedTime>& published) {
  std::vector<std::string> programs;
  std::vector<std::string> schedules;
  for (const std::string& file : options.files) {
    const std::string extension = fs::path(file).extension().string();
    if (extension == ".xml" || extension == ".trace") {
      if (!fs::exists(file)) return no_input(file, "the file does not exist");
      programs.push_back(file);
    } else if (extension == ".json") {
      schedules.push_back(file);
    } else if (extension == ".csv") {
      if (!add_published_times(file, published)) return std::nullopt;
    } else {
      return no_input(file,
                      "expected a program (.xml, .trace), a schedule (.json) or other tools' times "
                      "(.csv) beside the configuration; to compare configurations, sweep them "
                      "(espalier sweep)");
    }
  }
  ConfigResult config = read_comparison(options.config, options.overrides, programs);
  fmt::print(stderr, "{}", config.diagnostics);
  if (!config.ok) return std::nullopt;
  skipped = std::move(config.skipped);
  Input main;
  main.path = options.config;
  main.points = std::move(config.points);
  main.topology = config.topology;
  main.file_hashes = std::move(config.file_hashes);
  std::vector<Input> inputs{std::move(main)};
  for (const std::string& file : schedules) {
    auto input = schedule_beside(file, inputs.front());
    if (!input) return std::nullopt;
    inputs.push_back(std::move(*input));
  }
  for (Input& input : inputs) {
    for (RunPoint& point : input.points) point.simulation.fidelity = chosen_fidelity(point);
  }
  return inputs;
}

// Simulates all points, those that are planned to be the fastest first. A point that takes more
// than kLosing times as long as the best of its workload is not simulated to the end.
class ComparedRuns {
 public:
  ComparedRuns(const CompareOptions& options, const std::vector<Input>& inputs,
               const std::string& choices)
      : options_(options),
        choices_(choices),
        points_(all_points(inputs)),
        planned_(points_.size()),
        reports_(points_.size()) {}

  // Returns the signal that stopped the simulations, or 0.
  [[nodiscard]] int simulate(const WorkerLimits& limits) {
    std::vector<std::size_t> order(points_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    WorkerBatch planning;
    planning.limits = limits;
    planning.loses = [&](std::size_t i, Cycle) { return collective_of(i) == nullptr; };
    planning.finished = [&](std::size_t i, const WorkerReport& report) {
      if (!report.result.is_object()) return true;
      Planned planned{report.result, 0, false};
      if (planned.described.contains("planned_ns")) {
        planned.least_ns = planned.described["least_ns"];
        planned.is_proven_slowly = planned.described["is_proven_slowly"];
        planned.described.erase("least_ns");
        planned.described.erase("is_proven_slowly");
      }
      planned_[i] = std::move(planned);
      return true;
    };
    if (const int signal = run(order, {true}, std::move(planning)); signal != 0) return signal;
    // auto takes the fastest of all. Algorithms without a plan may take any time, and what is
    // proven slowly is simulated if nothing else is.
    const auto expected = [&](std::size_t i) {
      const CollectiveConfig* collective = collective_of(i);
      if (collective != nullptr && collective->algorithm == kAutoAlgorithm) return 0.0;
      return planned_[i] && !planned_[i]->is_proven_slowly
                 ? planned_[i]->described.value("planned_ns", kNoLimit)
                 : kNoLimit;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return expected(a) < expected(b); });
    WorkerBatch simulating;
    simulating.limits = limits;
    simulating.loses = [&](std::size_t k, Cycle cycles) { return loses(order[k], cycles); };
    simulating.finished = [&](std::size_t k, const WorkerReport& report) {
      take(order[k], report);
      return true;
    };
    if (const int signal = run(order, {}, std::move(simulating)); signal != 0) return signal;
    // Whether a point ended before the best time was known must not show.
    for (std::size_t i = 0; i < points_.size(); ++i) finish(i);
    return 0;
  }

  // Simulates the points `which` again and explains where their time went.
  [[nodiscard]] int explain(const std::vector<std::size_t>& which, const WorkerLimits& limits) {
    std::vector<std::size_t> explained;
    for (const std::size_t i : which) {
      const RunPoint& point = *points_[i].point;
      if (!point.workload && !point.coordination) explained.push_back(i);
    }
    WorkerBatch batch;
    batch.limits = limits;
    batch.finished = [&](std::size_t k, const WorkerReport& report) {
      const std::size_t i = explained[k];
      if (report.result.contains("explanation")) {
        reports_[i].result["explanation"] = report.result["explanation"];
      } else {
        fmt::print(stderr, "{}: warning: {} cannot be explained: {}\n", options_.config, name(i),
                   report.failure);
      }
      return true;
    };
    if (const int signal = run(explained, {false, true}, std::move(batch)); signal != 0) {
      return signal;
    }
    std::vector<ExplainedRun> runs;
    runs.reserve(explained.size());
    for (const std::size_t i : explained) runs.push_back({points_[i], &reports_[i].result});
    return compare_without_lockstep(runs, options_.jobs);
  }

  [[nodiscard]] std::vector<Json> results() const {
    std::vector<Json> results;
    for (const WorkerReport& report : reports_) {
      results.push_back(report.result.is_null() ? not_run(report.failure).result : report.result);
    }
    return results;
  }
  [[nodiscard]] const std::vector<WorkerReport>& reports() const { return reports_; }
  // The name of a point in messages: its algorithm, or its file.
  [[nodiscard]] std::string name(std::size_t i) const {
    if (points_[i].input->tables) return points_[i].input->path;
    const CollectiveConfig& collective = *points_[i].point->collective;
    return collective.program.file.empty() ? collective.algorithm : collective.program.file;
  }

 private:
  int run(const std::vector<std::size_t>& which, WorkerTask task, WorkerBatch batch) {
    std::vector<WorkerPoint> points;
    for (const std::size_t i : which) {
      const auto& [input, point] = points_[i];
      task.schedule = input->tables ? input->path : "";
      task.choices = choices_;
      points.push_back({point, task});
    }
    return run_points(points, options_.jobs, std::move(batch));
  }

  // nullptr if the point is more than one collective, whose time is not that of the run.
  [[nodiscard]] const CollectiveConfig* collective_of(std::size_t i) const {
    const RunPoint& point = *points_[i].point;
    if (point.training || point.workload || point.coordination) return nullptr;
    return &*point.collective;
  }
  // The time from which on point `i` loses; infinite while its workload has no time, and for auto,
  // which has no plan.
  [[nodiscard]] double limit_ns(std::size_t i) const {
    const CollectiveConfig* collective = options_.full || !planned_[i] ? nullptr : collective_of(i);
    const auto best =
        collective == nullptr ? best_ns_.end() : best_ns_.find({collective->op, collective->size});
    return best == best_ns_.end() ? kNoLimit : kLosing * best->second;
  }
  // Whether point `i`, which takes at least so many cycles, is not simulated to the end. A program
  // of the user is certified first, so it begins.
  [[nodiscard]] bool loses(std::size_t i, Cycle cycles) const {
    const double limit = limit_ns(i);
    const bool is_own = collective_of(i) != nullptr && collective_of(i)->program.given;
    if (limit == kNoLimit || (is_own && cycles == 0)) return false;
    return planned_[i]->is_proven_slowly || planned_[i]->least_ns > limit ||
           nanoseconds(cycles, points_[i].point->system.clock) > limit;
  }
  void take(std::size_t i, const WorkerReport& report) {
    reports_[i] = report;
    const CollectiveConfig* collective = collective_of(i);
    const bool is_time = report.failure.empty() && !report.stopped;
    // What is proven slowly sets no limit: with fewer processes at once it may not be simulated.
    if (collective == nullptr || !is_time || (planned_[i] && planned_[i]->is_proven_slowly)) return;
    double& best = best_ns_.try_emplace({collective->op, collective->size}, kNoLimit).first->second;
    best = std::min(best, report.result.at("time_ns").get<double>());
  }
  void finish(std::size_t i) {
    WorkerReport& report = reports_[i];
    report.stopped = report.stopped || loses(i, 0) ||
                     (report.failure.empty() && limit_ns(i) != kNoLimit &&
                      loses(i, report.result.at("cycles").get<Cycle>()));
    if (report.stopped) report.result = stopped_result(i);
    if (!report.result.is_object()) return;
    // The tables may name a generator that is compared, too; the file's name is the user's.
    if (points_[i].input->tables) report.result["algorithm"] = label(i);
    if (planned_[i] && planned_[i]->described.contains("planned_ns")) {
      report.result["planned_ns"] = planned_[i]->described["planned_ns"];
    }
  }
  // Stands for a run that was not simulated to the end.
  [[nodiscard]] Json stopped_result(std::size_t i) const {
    const auto& [described, least_ns, is_proven_slowly] = *planned_[i];
    const double limit = limit_ns(i);
    const bool is_slow = is_proven_slowly && least_ns <= limit;
    Json result = described;
    result["verified"] = false;
    result["failure"] = is_slow ? kProvenSlowly : least_ns > limit ? kPlannedToLose : kLoses;
    result["stopped_ns"] = is_slow ? Json() : Json(limit);
    return result;
  }
  // The name of a point in the table.
  [[nodiscard]] std::string label(std::size_t i) const {
    if (points_[i].input->tables) return fs::path(points_[i].input->path).filename().string();
    const CollectiveConfig& collective = *points_[i].point->collective;
    return collective.program.given ? program_label(collective.program) : collective.algorithm;
  }

  struct Planned {
    Json described;  // with the planned time, if there is one
    double least_ns;
    bool is_proven_slowly;
  };

  const CompareOptions& options_;
  const std::string& choices_;
  std::vector<PointRef> points_;
  std::vector<std::optional<Planned>> planned_;  // of runs of one collective, but for auto
  std::map<std::pair<CollectiveOp, Bytes>, double> best_ns_;  // by operation and size
  std::vector<WorkerReport> reports_;
};

std::string published_files(const CompareOptions& options) {
  std::vector<std::string> files;
  for (const std::string& file : options.files) {
    if (fs::path(file).extension() == ".csv") files.push_back(file);
  }
  return fmt::format("{}", fmt::join(files, ", "));
}

// The command line without its outputs.
std::vector<std::string> command_words(const CompareOptions& options) {
  std::vector<std::string> words{"espalier", "compare", options.config};
  words.insert(words.end(), options.files.begin(), options.files.end());
  for (const std::string& setting : options.overrides) words.insert(words.end(), {"-s", setting});
  return words;
}

Json json_of(const std::vector<SkippedAlgorithm>& skipped) {
  Json list = Json::array();
  for (const SkippedAlgorithm& each : skipped) {
    list.push_back({{"algorithm", each.name}, {"reason", each.reason}});
  }
  return list;
}

}  // namespace

int compare_command(const CompareOptions& options) {
  WorkerLimits limits;
  if (!options.time_limit.empty()) {
    const ParsedQuantity limit = kTimeLimits.parse(options.time_limit);
    if (!limit.value) {
      fmt::print(stderr, "--time-limit {}: error: {}\nhint: {}\n", options.time_limit, limit.error,
                 limit.hint);
      return kUsageError;
    }
    limits.time = std::chrono::milliseconds(*limit.value);
  }
  std::vector<SkippedAlgorithm> skipped;
  std::vector<PublishedTime> published;
  const auto inputs = load(options, skipped, published);
  if (!inputs) return kUsageError;
  if (!can_write({{"--json", options.json}, {"--csv", options.csv}}, files_of(*inputs)))
    return kUsageError;
  const AutoFolder choices(options.choices, *inputs);
  if (!choices.mistake().empty()) {
    fmt::print(stderr, "{}\n", choices.mistake());
    return kUsageError;
  }
  ComparedRuns comparison(options, *inputs, choices.path());
  int signal = comparison.simulate(limits);
  std::vector<Ranking> rankings;
  if (signal == 0) {
    rankings = rank_results(comparison.results());
    std::vector<std::size_t> best;
    for (const Ranking& ranking : rankings) {
      if (!ranking.order.empty()) best.push_back(ranking.order.front());
    }
    signal = comparison.explain(best, limits);
  }
  if (signal != 0) {
    fmt::print(stderr, "stopped by {}; no results are written\n", signal_name(signal));
    return exit_code_of_signal(signal);
  }
  std::vector<Json> results = comparison.results();
  if (!published.empty() && !put_beside(published, results)) {
    fmt::print(stderr,
               "{}: warning: no time is for a network, operation and size that is compared here; "
               "the network is called '{}'\n",
               published_files(options), inputs->front().topology->name());
  }
  const bool stdout_is_taken = options.json == "-" || options.csv == "-";
  std::FILE* people = stdout_is_taken ? stderr : stdout;
  for (const Ranking& ranking : rankings) {
    fmt::print(people, "{}", ranking_text(ranking, results));
  }
  bool good = true;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const WorkerReport& report = comparison.reports()[i];
    if (report.failure.empty() || report.stopped) continue;
    good = false;
    fmt::print(stderr, "{}: error: {}: {}\n", options.config, comparison.name(i), report.failure);
  }
  fmt::print(people, "{}", skipped_text(skipped));
  Json more{{"rankings", Json::array()}, {"skipped", json_of(skipped)}};
  for (const Ranking& ranking : rankings) more["rankings"].push_back(ranking.order);
  if (!write_results(options.json, options.csv, command_words(options), *inputs, results, more)) {
    return kUsageError;
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
