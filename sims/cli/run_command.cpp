#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "sims/point/fidelity.h"
#include "sims/study/compared_runs.h"
#include "sims/study/run_store.h"
#include "sims/study/study.h"
#include "sims/text/people.h"

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
    if (audience == Messages::people) tell(stderr, "{}", notice);
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
      tell(stderr, "{}: note: simulates all {} NPUs instead of one NPU for all because of {}\n",
           input.path, shape.num_nodes(), obstacle);
      break;
    }
  }
}

WorkerReport run_here(const PointRef& ref, const WorkerTask& task, bool quiet,
                      RunObservers& observers) {
  Progress progress(1, quiet ? Shown::nothing : Shown::on_terminals);
  SimulationHooks hooks;
  hooks.progress = [&](double done) { progress.update(0, done); };
  observers.watch(hooks);
  WorkerReport report{simulate_here(*ref.input->topology, *ref.point, ref.input->tables,
                                    std::move(hooks), observers.account(), task)};
  observers.finish(report);
  if (!report.failure.empty()) report.kind = FailureKind::unverified;
  return report;
}

// Fills in `reports`. Returns the signal that stopped the run, or 0.
int run_all(const RunOptions& options, const std::vector<StudyPoint>& points, RunStore& store,
            std::vector<PointReport>& reports) {
  WorkerBatch batch;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    reports[i] = report;
    return true;
  };
  return run_points(points, every_one(points.size()), options.jobs, batch,
                    options.quiet ? Shown::nothing : Shown::on_terminals, &store);
}

// The command that continues an interrupted run.
std::string resume_command(const RunOptions& options) {
  std::vector<std::string> words =
      command_words(options.explain_all ? "explain" : "run", options.configs, options.overrides,
                    {{"--json", options.json},
                     {"--csv", options.csv},
                     {"--choices", options.choices},
                     {"-j", options.jobs == 0 ? "" : std::to_string(options.jobs)}});
  if (options.explain) words.emplace_back(options.explain_all ? "--all" : "--explain");
  if (options.quiet) words.emplace_back("-q");
  words.emplace_back("--resume");
  return shell_line(words);
}

// Says what an interrupted run leaves behind: the finished points, or at least their rows.
int stopped(const RunOptions& options, int signal, RunStore& store,
            const std::vector<PointReport>& reports) {
  std::vector<Json> finished;
  for (const PointReport& report : reports) {
    if (!report.result.is_null()) finished.push_back(report.result);
  }
  const std::string stop = fmt::format("stopped by {}; {} of {} points are finished",
                                       signal_name(signal), finished.size(), reports.size());
  const char* const otherwise =
      finished.empty() ? ""
      : options.messages.empty()
          ? ", and their rows are printed; with --json FILE, run keeps them and --resume continues"
          : ", and their rows are printed; with --messages, run does not keep them";
  if (!store.say_stop(stop, otherwise) && !finished.empty()) {
    const bool stdout_is_taken = options.json == "-" || options.csv == "-";
    tell(stdout_is_taken ? stderr : stdout, "{}",
         result_table(finished) + (options.quiet ? "" : table_notes(finished)));
  }
  return exit_code_of_signal(signal);
}

// Why `--resume` cannot be used; empty if it can.
std::string resume_mistake(const RunOptions& options) {
  if (!options.resume) return {};
  for (const auto& [option, file] :
       {std::pair("--messages", &options.messages), std::pair("--waves", &options.waves.file),
        std::pair("--timeline", &options.timeline)}) {
    if (file->empty()) continue;
    return fmt::format(
        "--resume: finished points are not simulated again, which {} needs; leave out one of the "
        "two",
        option);
  }
  return {};
}

// Writes what `options` asks for. Returns false if an output could not be written.
bool write_outputs(const RunOptions& options, const std::vector<Input>& inputs,
                   const std::vector<PointReport>& reports, const std::vector<Json>& results,
                   const MessageLogParts* messages) {
  const bool written = write_results(options.json, options.csv,
                                     command_words("run", options.configs, options.overrides),
                                     inputs, results, Json::object());
  if (messages == nullptr) return written;
  bool complete = true;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    complete &= !reports[i].failure.empty() || messages->has_part(i);
  }
  if (complete && messages->join()) return written;
  tell(stderr, "{}: error: cannot be written\n", options.messages);
  return false;
}

// A line about the point that took longest of those with a note.
void say_what_was_slow(const std::vector<PointRef>& points,
                       const std::vector<PointReport>& reports) {
  const auto seconds = [](const PointReport& report) {
    return report.note.empty() ? 0.0
                               : number_in(report.result, field::host_engine_cpu_s).value_or(0);
  };
  const auto slowest = std::max_element(
      reports.begin(), reports.end(),
      [&](const PointReport& a, const PointReport& b) { return seconds(a) < seconds(b); });
  if (slowest->note.empty()) return;
  const auto i = static_cast<std::size_t>(slowest - reports.begin());
  tell(stderr, "{}: note: {}{}\n", points[i].input->path,
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
  RunStore store(options.messages.empty() ? first_file({options.json, options.csv}) : "",
                 options.resume, PointOrigin{resume_command(options), kVersion}, options.quiet);
  if (say_mistake({resume_mistake(options), store.mistake(), observer_mistake(options, *inputs),
                   choices.mistake()})) {
    return kUsageError;
  }
  std::optional<RunObservers> observers;
  if (points.size() == 1) {
    try {
      observers.emplace(options, *points[0].input, *points[0].point);
    } catch (const std::exception& error) {
      tell(stderr, "{}\n", error.what());
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
    study.push_back(study_point(*points[i].point, std::move(task)));
  }
  if (say_mistake({store.begin(study)})) return kUsageError;
  if (observers) {
    auto report = store.recall(study[0]);
    if (!report) {
      report = run_here(points[0], study[0].task, options.quiet, *observers);
      if (const std::string mistake = observers->mistake(); !mistake.empty()) {
        return usage_error("--wave-scope", mistake);
      }
      store.add(study[0], *report);
    }
    reports[0] = *report;
  } else if (const int signal = run_all(options, study, store, reports); signal != 0) {
    return stopped(options, signal, store, reports);
  }

  if (const std::string why = observers ? observers->unanswered() : ""; !why.empty()) {
    tell(stderr, "{}: error: {}\n", points[0].input->path, why);
    return kUsageError;
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
    if (const int signal = compare_without_lockstep(runs, options.jobs, &store); signal != 0) {
      return stopped(options, signal, store, reports);
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
  const auto was_built = [](const Json& result) {
    return find_field(result, field::topology) != nullptr;
  };
  if (std::any_of(results.begin(), results.end(), was_built)) {
    tell(people, "{}", result_table(results) + (options.quiet ? "" : table_notes(results)));
  }
  for (const auto& result : results) {
    if (find_field(result, field::explanation) == nullptr &&
        find_field(result, field::step_path) == nullptr) {
      continue;
    }
    tell(people, "{}",
         explanation_text(result,
                          options.explain_all ? ExplanationDetail::all : ExplanationDetail::brief));
  }
  if (audience == Messages::people) say_what_was_slow(points, reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i].failure.empty())
      tell(stderr, "{}: error: point {}: {}\n", points[i].input->path, i + 1, reports[i].failure);
  }
  if (!write_outputs(options, *inputs, reports, results, messages ? &*messages : nullptr)) {
    store.say_unwritten();
    return kUsageError;
  }
  store.end(good);
  if (const std::string text = observers ? observers->problems() : ""; !text.empty()) {
    tell(stderr, "{}", text);
    return kUsageError;
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
