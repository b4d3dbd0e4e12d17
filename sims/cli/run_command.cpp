#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "sims/cli/auto_folder.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/result_table.h"
#include "sims/cli/results_document.h"
#include "sims/cli/run_observers.h"
#include "sims/cli/version.h"
#include "sims/experiment/message_log.h"
#include "sims/experiment/point_runner.h"
#include "sims/experiment/result_fields.h"
#include "sims/model/plan_forecast.h"
#include "sims/observe/explain/explanation.h"
#include "sims/point/fidelity.h"
#include "sims/study/compared_runs.h"
#include "sims/study/run_store.h"
#include "sims/study/study.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

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
                         !point.workload && planner_of(point) != nullptr;
      const std::string obstacle = might ? folding_obstacle(point, shape) : std::string();
      if (obstacle.empty()) continue;
      fmt::print(stderr,
                 "{}: note: simulates all {} NPUs instead of one NPU for all because of {}\n",
                 input.path, shape.num_nodes(), obstacle);
      break;
    }
  }
}

PointReport run_here(const PointRef& ref, const WorkerTask& task, bool quiet,
                     RunObservers& observers) {
  Progress progress(1, quiet ? Shown::nothing : Shown::on_terminals);
  SimulationHooks hooks;
  hooks.progress = [&](double done) { progress.update(0, done); };
  observers.watch(hooks);
  PointReport report = simulate_here(*ref.input->topology, *ref.point, ref.input->tables,
                                     std::move(hooks), observers.account(), task);
  observers.finish(report);
  return report;
}

// The command line without its outputs.
std::vector<std::string> command_words(const RunOptions& options) {
  std::vector<std::string> words{"run"};
  words.insert(words.end(), options.configs.begin(), options.configs.end());
  for (const std::string& setting : options.overrides) words.insert(words.end(), {"-s", setting});
  return words;
}

// Fills the entries of `reports` that have no result yet. Returns the signal that stopped the run,
// or 0.
int run_all(const RunOptions& options, const std::vector<StudyPoint>& points,
            std::optional<RunStore>& store, std::vector<PointReport>& reports) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (reports[i].result.is_null()) open.push_back(i);
  }
  WorkerBatch batch;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    reports[i] = report;
    if (store) store->add(i, report);
    return true;
  };
  return run_points(points, open, options.jobs, batch,
                    options.quiet ? Shown::nothing : Shown::on_terminals);
}

// Not for stdout, devices and pipes.
bool is_file_output(const std::string& output) {
  if (output.empty() || output == "-") return false;
  std::error_code ignored;
  return !std::filesystem::exists(output, ignored) ||
         std::filesystem::is_regular_file(output, ignored);
}

// The command that continues an interrupted run.
std::string resume_command(const RunOptions& options) {
  std::vector<std::string> words = command_words(options);
  words.insert(words.begin(), "espalier");
  if (options.explain) words.emplace_back("--explain");
  if (!options.json.empty()) words.insert(words.end(), {"--json", options.json});
  if (!options.csv.empty()) words.insert(words.end(), {"--csv", options.csv});
  if (!options.choices.empty()) words.insert(words.end(), {"--choices", options.choices});
  if (options.jobs != 0) words.insert(words.end(), {"-j", std::to_string(options.jobs)});
  words.emplace_back("--resume");
  return shell_line(words);
}

// Why `--resume` cannot be used; empty if it can.
std::string resume_mistake(const RunOptions& options) {
  if (!options.resume) return {};
  if (!options.messages.empty()) {
    return "--resume: the messages of finished points are not kept; leave out --messages";
  }
  return is_file_output(options.json) || is_file_output(options.csv)
             ? ""
             : "--resume: finished points are kept beside the results; name their file with --json "
               "or --csv";
}

// Says what an interrupted run leaves behind: the finished points, or at least their rows.
void say_interruption(const RunOptions& options, int signal, std::optional<RunStore>& store,
                      const std::vector<PointReport>& reports) {
  std::vector<Json> finished;
  for (const PointReport& report : reports) {
    if (!report.result.is_null()) finished.push_back(report.result);
  }
  const std::string stop = fmt::format("stopped by {}; {} of {} points are finished",
                                       signal_name(signal), finished.size(), reports.size());
  if (finished.empty()) {
    fmt::print(stderr, "{}\n", stop);
    return;
  }
  if (store && store->write()) {
    fmt::print(stderr, "{} and kept in {}; to continue:\n    {}\n", stop, store->folder().string(),
               resume_command(options));
    return;
  }
  const bool stdout_is_taken = options.json == "-" || options.csv == "-";
  fmt::print(stdout_is_taken ? stderr : stdout, "{}", result_table(finished));
  fmt::print(stderr, "{}, and their rows are printed; {}\n", stop,
             store                      ? store->folder().string() + " cannot be written"
             : options.messages.empty() ? "with --json FILE, run keeps them and --resume continues"
                                        : "with --messages, run does not keep them");
}

// Writes what `options` asks for. Returns false if an output could not be written.
bool write_outputs(const RunOptions& options, const std::vector<Input>& inputs,
                   const std::vector<PointReport>& reports, const std::vector<Json>& results,
                   const MessageLogParts* messages) {
  std::vector<std::string> command = command_words(options);
  command.insert(command.begin(), "espalier");
  const bool written =
      write_results(options.json, options.csv, command, inputs, results, Json::object());
  if (messages == nullptr) return written;
  bool complete = true;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    complete &= !reports[i].failure.empty() || messages->has_part(i);
  }
  if (complete && messages->join()) return written;
  fmt::print(stderr, "{}: error: cannot be written\n", options.messages);
  return false;
}

// A line about the point that took longest of those with a note.
void say_what_was_slow(const std::vector<PointRef>& points,
                       const std::vector<PointReport>& reports) {
  const auto seconds = [](const PointReport& report) {
    return report.note.empty() ? 0.0 : number_in(report.result, field::host_engine_cpu_s).value();
  };
  const auto slowest = std::max_element(
      reports.begin(), reports.end(),
      [&](const PointReport& a, const PointReport& b) { return seconds(a) < seconds(b); });
  if (slowest->note.empty()) return;
  const auto i = static_cast<std::size_t>(slowest - reports.begin());
  fmt::print(stderr, "{}: note: {}{}\n", points[i].input->path,
             points.size() == 1 ? "" : fmt::format("point {}: ", i + 1), slowest->note);
}

}  // namespace

int run_command(const RunOptions& options) {
  const Messages audience = options.quiet ? Messages::errors : Messages::people;
  auto inputs = load_inputs(options.configs, options.overrides, ConfigNeed::workload, audience);
  if (!inputs) return kUsageError;
  choose_fidelity(*inputs, audience);
  if (audience == Messages::people) say_what_is_not_folded(*inputs);
  const std::vector<PointRef> points = all_points(*inputs);
  const AutoFolder choices(options.choices, *inputs);
  for (const std::string& mistake :
       {resume_mistake(options), observer_mistake(options, *inputs), choices.mistake()}) {
    if (mistake.empty()) continue;
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
  std::vector<StudyPoint> study;
  for (std::size_t i = 0; i < points.size(); ++i) {
    WorkerTask task;
    task.explain = options.explain;
    task.schedule = points[i].input->tables ? points[i].input->path : "";
    task.choices = choices.path();
    task.messages = messages ? messages->part(i) : "";
    task.number = i + 1;
    if (observers) {
      reports[i] = run_here(points[i], task, options.quiet, *observers);
    } else {
      study.push_back(study_point(*points[i].point, std::move(task)));
    }
  }
  std::optional<RunStore> store;
  const std::string& target = is_file_output(options.json) ? options.json : options.csv;
  if (!study.empty() && is_file_output(target) && !messages) {
    store.emplace(target, study, PointOrigin{resume_command(options), kVersion});
    const std::string problem = store->begin(options.resume, reports);
    if (!problem.empty()) {
      fmt::print(stderr, "{}\n", problem);
      return kUsageError;
    }
  }
  if (const int signal = run_all(options, study, store, reports); signal != 0) {
    say_interruption(options, signal, store, reports);
    return exit_code_of_signal(signal);
  }

  // A worker that died has left no result; its point still gets a row.
  for (PointReport& report : reports) {
    if (report.result.is_null()) report = not_run(report.failure);
  }
  if (options.explain) {
    std::vector<ExplainedRun> runs;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_file = points[i].input->tables.has_value();
      runs.push_back({points[i].point, is_file ? points[i].input->path : "", &reports[i].result});
    }
    if (const int signal = compare_without_lockstep(runs, options.jobs); signal != 0) {
      say_interruption(options, signal, store, reports);
      return exit_code_of_signal(signal);
    }
  }
  std::vector<Json> results;
  bool good = true;
  for (const PointReport& report : reports) {
    results.push_back(report.result);
    good &= report.failure.empty();
  }
  const bool stdout_is_taken = options.json == "-" || options.csv == "-";
  std::FILE* people = stdout_is_taken ? stderr : stdout;
  // Points that did not begin have nothing to show but their errors.
  const bool any_ran = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return find_field(result, field::topology) != nullptr;
  });
  if (any_ran) fmt::print(people, "{}", result_table(results));
  for (const auto& result : results) {
    if (find_field(result, field::explanation) == nullptr) continue;
    fmt::print(people, "{}",
               explanation_text(result, options.explain_all ? ExplanationDetail::all
                                                            : ExplanationDetail::brief));
  }
  if (audience == Messages::people) say_what_was_slow(points, reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i].failure.empty())
      fmt::print(stderr, "{}: error: point {}: {}\n", points[i].input->path, i + 1,
                 reports[i].failure);
  }
  if (!write_outputs(options, *inputs, reports, results, messages ? &*messages : nullptr)) {
    // The simulations are not lost.
    if (store && store->write()) {
      fmt::print(stderr, "the finished points are kept in {}; to write the results:\n    {}\n",
                 store->folder().string(), resume_command(options));
    }
    return kUsageError;
  }
  if (store) store->remove();
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
