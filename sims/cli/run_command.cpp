#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "alg/plans/planner.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/result_table.h"
#include "sims/cli/results_document.h"
#include "sims/cli/run_observers.h"
#include "sims/experiment/message_log.h"
#include "sims/experiment/point_runner.h"
#include "sims/experiment/progress.h"
#include "sims/experiment/result_fields.h"
#include "sims/experiment/workers.h"
#include "sims/model/folding.h"
#include "sims/observe/explain/explanation.h"
#include "sims/point/fidelity.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

struct PointRef {
  const Input* input;
  const RunPoint* point;
};

// Chooses the fidelity if the file says `auto`. Prints a note if only the slower fidelity is exact.
void choose_fidelity(std::vector<Input>& inputs, Messages audience) {
  for (Input& input : inputs) {
    std::string notice;
    for (RunPoint& point : input.points) {
      const Fidelity chosen = chosen_fidelity(point);
      if (chosen == Fidelity::cycle && point.simulation.fidelity == Fidelity::automatic) {
        notice = fmt::format("{}: note: simulates flit by flit (fidelity: cycle) because of {}\n",
                             input.path, train_obstacle(point));
      }
      point.simulation.fidelity = chosen;
    }
    if (audience == Messages::people) fmt::print(stderr, "{}", notice);
  }
}

// Prints a note for points that simulate all NPUs although the collective could be folded onto one
// NPU, because they may take a thousand times as long.
void say_what_is_not_folded(const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    if (!input.topology->dimensions()) continue;
    const DimensionedShape& shape = *input.topology->dimensions();
    for (const RunPoint& point : input.points) {
      const bool might = point.simulation.fold == Folding::automatic && point.collective &&
                         !point.workload && find_planner(point.collective->algorithm) != nullptr;
      const std::string obstacle = might ? folding_obstacle(point, shape) : std::string();
      if (obstacle.empty()) continue;
      fmt::print(stderr,
                 "{}: note: simulates all {} NPUs instead of one NPU for all because of {}\n",
                 input.path, shape.num_nodes(), obstacle);
      break;
    }
  }
}

std::vector<PointRef> all_points(const std::vector<Input>& inputs) {
  std::vector<PointRef> points;
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) points.push_back({&input, &point});
  }
  return points;
}

// `messages`: the file for this point's messages, or empty.
PointReport run_here(const PointRef& ref, std::size_t number, const ProgressCallback& progress,
                     const std::string& messages, RunObservers& observers) {
  const auto& [input, point] = ref;
  SimulationHooks hooks;
  hooks.progress = progress;
  observers.watch(hooks);
  std::optional<MessageLog> log;
  if (!messages.empty()) {
    log.emplace(messages, number, *input->topology, point->traffic.has_value());
    hooks.delivered = [&log](const Operation& message, Cycle now) { log->note(message, now); };
  }
  PointReport report =
      run_point(*input->topology, *point, input->tables, hooks, observers.account());
  observers.finish(report);
  // If the part cannot be written, the parent finds it missing and reports that.
  if (log) static_cast<void>(log->finish());
  return report;
}

// The command line without its outputs.
std::vector<std::string> command_words(const RunOptions& options) {
  std::vector<std::string> words{"run"};
  words.insert(words.end(), options.configs.begin(), options.configs.end());
  for (const std::string& setting : options.overrides) words.insert(words.end(), {"-s", setting});
  return words;
}

FileHashes hashes_of(const std::vector<Input>& inputs) {
  FileHashes files;
  for (const Input& input : inputs)
    files.insert(input.file_hashes.begin(), input.file_hashes.end());
  return files;
}

// Returns an empty text if no file has changed.
std::string change_since(const std::vector<std::string>& files_read,
                         const std::vector<Input>& inputs) {
  const std::string changed = changed_file(files_read, hashes_of(inputs));
  return changed.empty() ? std::string() : changed_file_error(changed);
}

// Fills `reports`. Returns the signal that stopped the run, or 0.
int run_all(const RunOptions& options, const std::vector<Input>& inputs,
            const std::vector<PointRef>& points, const std::optional<MessageLogParts>& messages,
            RunObservers* observers, std::vector<PointReport>& reports) {
  ProgressBar bar(points.size());
  const auto part = [&](std::size_t i) { return messages ? messages->part(i) : std::string(); };
  if (points.size() == 1) {
    reports[0] = run_here(
        points[0], 1, [&](double done) { bar.update(0, done); }, part(0), *observers);
    return 0;
  }
  const std::vector<std::string> files_read = to_words(hashes_of(inputs));
  WorkerBatch batch;
  batch.arguments = [&](std::size_t i) {
    std::vector<std::string> words = command_words(options);
    words.insert(words.end(), {"--point", std::to_string(i)});
    for (const std::string& file : files_read) words.insert(words.end(), {"--read", file});
    if (options.explain) words.emplace_back("--explain");
    if (messages) words.insert(words.end(), {"--messages", part(i)});
    return words;
  };
  batch.progress = [&](std::size_t i, double done) { bar.update(i, done); };
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    reports[i] = report;
    return true;
  };
  return run_workers(options.program, points.size(), jobs_at_once(options.jobs), batch);
}

std::filesystem::path folder_of(const std::string& target) {
  const auto parent = std::filesystem::path(target == "-" ? "" : target).parent_path();
  return parent.empty() ? std::filesystem::current_path() : parent;
}

// Writes what `options` asks for. Returns false if an output could not be written.
bool write_outputs(const RunOptions& options, const std::vector<Input>& inputs,
                   const std::vector<PointReport>& reports, const std::vector<Json>& results,
                   const MessageLogParts* messages) {
  bool written = true;
  if (!options.json.empty()) {
    std::vector<std::string> command = command_words(options);
    command.insert(command.begin(), "espalier");
    const Json document = results_document(command, inputs, results, folder_of(options.json));
    written &= write_text(options.json, document.dump(2) + "\n");
  }
  if (!options.csv.empty()) written &= write_text(options.csv, results_csv(results));
  if (messages == nullptr) return written;
  bool complete = true;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    complete &= !reports[i].failure.empty() || messages->has_part(i);
  }
  if (complete && messages->join()) return written;
  fmt::print(stderr, "{}: error: cannot be written\n", options.messages);
  return false;
}

}  // namespace

int run_command(const RunOptions& options) {
  // A worker's parent has printed all messages about the files.
  const Messages audience = options.point ? Messages::nobody : Messages::people;
  auto inputs = load_inputs(options.configs, options.overrides, ConfigNeed::workload, audience);
  if (options.point) {
    // The parent has read the same files without an error.
    const std::string failure =
        inputs ? change_since(options.files_read, *inputs)
               : "input files changed while the simulations were running; run the command again";
    if (!failure.empty()) {
      write_worker_report(not_run(failure));
      return kCheckFailed;
    }
  }
  if (!inputs) return kUsageError;
  choose_fidelity(*inputs, audience);
  if (audience == Messages::people) say_what_is_not_folded(*inputs);
  const std::vector<PointRef> points = all_points(*inputs);
  if (options.point) {
    if (*options.point >= points.size()) return kUsageError;
    const PointRef& ref = points[*options.point];
    RunObservers observers(options, *ref.input, *ref.point);
    const PointReport report =
        run_here(ref, *options.point + 1, write_worker_progress, options.messages, observers);
    write_worker_report(report);
    return report.failure.empty() ? kGood : kCheckFailed;
  }
  if (const std::string mistake = observer_mistake(options, *inputs); !mistake.empty()) {
    fmt::print(stderr, "{}\n", mistake);
    return kUsageError;
  }
  std::optional<RunObservers> observers;
  if (points.size() == 1) {
    try {
      observers.emplace(options, *points[0].input, *points[0].point);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      return kUsageError;
    }
  }
  std::optional<MessageLogParts> messages;
  if (!options.messages.empty()) messages.emplace(options.messages, points.size());
  std::vector<PointReport> reports(points.size());
  if (const int signal =
          run_all(options, *inputs, points, messages, observers ? &*observers : nullptr, reports);
      signal != 0) {
    fmt::print(stderr, "stopped by {}; no results are written\n", signal_name(signal));
    return exit_code_of_signal(signal);
  }

  // A worker that died has left no result; its point still gets a row.
  for (PointReport& report : reports) {
    if (report.result.is_null()) report = not_run(report.failure);
  }
  std::vector<Json> results;
  bool good = true;
  for (const PointReport& report : reports) {
    results.push_back(report.result);
    good &= report.failure.empty();
  }
  const bool stdout_is_taken = options.json == "-" || options.csv == "-";
  std::FILE* people = stdout_is_taken ? stderr : stdout;
  fmt::print(people, "{}", result_table(results));
  for (const auto& result : results) {
    if (result.contains("explanation")) fmt::print(people, "{}", explanation_text(result));
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i].failure.empty())
      fmt::print(stderr, "{}: error: point {}: {}\n", points[i].input->path, i + 1,
                 reports[i].failure);
  }
  if (!write_outputs(options, *inputs, reports, results, messages ? &*messages : nullptr)) {
    return kUsageError;
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
