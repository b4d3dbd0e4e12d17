#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "sims/cli/output.h"
#include "sims/experiment/workers.h"
#include "sims/report/figure/figure_jobs.h"
#include "sims/report/figure/gnuplot.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

void say(const std::string& path, const std::string& problem) {
  fmt::print(stderr, "{}: error: {}\n", path, problem);
}

bool print_diagnostics(const std::vector<FigureResult>& figures) {
  bool good = true;
  for (const FigureResult& figure : figures) {
    fmt::print(stderr, "{}", figure.diagnostics.text());
    good = good && figure.diagnostics.num_errors() == 0;
  }
  return good;
}

bool names_differ(const std::vector<FigureResult>& figures) {
  std::set<std::string> names;
  bool good = true;
  for (const FigureResult& result : figures) {
    if (names.insert(result.figure.name).second) continue;
    say(result.figure.path,
        fmt::format("another figure has the same name, {}", result.figure.name));
    good = false;
  }
  return good;
}

std::vector<CommandFile> outputs_of(const std::vector<FigureResult>& figures,
                                    const fs::path& folder) {
  std::vector<CommandFile> outputs;
  for (const FigureResult& result : figures) {
    for (const char* ending : {".csv", ".gp", ".svg"}) {
      outputs.push_back({"figure", (folder / (result.figure.name + ending)).string()});
    }
  }
  return outputs;
}

void print_plan(const std::vector<FigureResult>& figures, const FigureJobs& jobs) {
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const Figure& figure = figures[f].figure;
    fmt::print("{}: {}\n", figure.name, figure.title);
    const auto names = point_names(figure);
    for (std::size_t p = 0; p < figure.panels.size(); ++p) {
      const Panel& panel = figure.panels[p];
      for (std::size_t i = 0; i < panel.points.size(); ++i) {
        fmt::print("  {}{}{}: {}{}\n", panel.title, panel.title.empty() ? "" : ", ",
                   panel.series[panel.points[i].series], names[p][i],
                   jobs.job_of(f, p, i).kept ? " (kept)" : "");
      }
    }
  }
  const auto& all = jobs.jobs();
  const auto kept = std::count_if(all.begin(), all.end(), [](const auto& job) { return job.kept; });
  fmt::print("{} simulations, {} of them kept from earlier runs\n", all.size(), kept);
}

bool report_failures(const Figure& figure, std::size_t f, const FigureJobs& jobs) {
  bool good = true;
  const auto names = point_names(figure);
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const Panel& panel = figure.panels[p];
    for (std::size_t i = 0; i < panel.points.size(); ++i) {
      const FigureJob& job = jobs.job_of(f, p, i);
      if (job.failure.empty()) continue;
      say(figure.path, fmt::format("panel '{}', series '{}', {}: {}", panel.title,
                                   panel.series[panel.points[i].series], names[p][i], job.failure));
      good = false;
    }
  }
  return good;
}

int write_figure(FigureResult& result, std::size_t f, const FigureJobs& jobs,
                 const fs::path& folder) {
  const Figure& figure = result.figure;
  const auto result_of = [&](std::size_t p, std::size_t i) {
    const FigureJob& job = jobs.job_of(f, p, i);
    return job.result ? &*job.result : nullptr;
  };
  const std::vector<FigureRow> rows = figure_rows(figure, result_of, result.diagnostics);
  if (result.diagnostics.num_errors() != 0) return kUsageError;
  const fs::path csv = folder / (figure.name + ".csv");
  const fs::path script = folder / (figure.name + ".gp");
  if (!write_text(csv.string(), figure_csv(figure, rows)) ||
      !write_text(script.string(), gnuplot_script(figure, rows))) {
    return kUsageError;
  }
  const bool complete = report_failures(figure, f, jobs);
  fmt::print("{} {}", csv.string(), script.string());
  const std::string problem = run_gnuplot(script);
  if (problem.empty()) fmt::print(" {}", (folder / (figure.name + ".svg")).string());
  fmt::print("\n");
  if (!problem.empty()) say(figure.path, problem);
  return complete && problem.empty() ? kGood : kCheckFailed;
}

}  // namespace

int figure_command(const FigureOptions& options) {
  std::vector<FigureResult> figures;
  figures.reserve(options.files.size());
  for (const std::string& file : options.files)
    figures.push_back(read_figure(file, options.overrides));
  if (!print_diagnostics(figures) || !names_differ(figures)) return kUsageError;

  const fs::path folder = options.output;
  const PointCache cache(folder / "points", options.program);
  FigureJobs jobs(figures, cache);
  if (options.plan) {
    print_plan(figures, jobs);
    return kGood;
  }
  if (!cache.open()) {
    say(cache.folder().string(), "is not a folder that can be made and written");
    return kUsageError;
  }
  if (const std::string mistake = output_mistake(outputs_of(figures, folder), {});
      !mistake.empty()) {
    fmt::print(stderr, "{}\n", mistake);
    return kUsageError;
  }
  for (FigureResult& figure : figures) figure.diagnostics.forget_warnings();
  const FigureRun run = jobs.run(options.program, jobs_at_once(options.jobs));
  if (!run.problem.empty()) {
    say(options.output, run.problem);
    return kUsageError;
  }
  if (run.signal != 0) {
    fmt::print(stderr, "stopped by {}; finished points are kept, and the same command continues\n",
               signal_name(run.signal));
    return exit_code_of_signal(run.signal);
  }
  if (!print_diagnostics(figures)) return kUsageError;
  int exit_code = kGood;
  for (std::size_t f = 0; f < figures.size(); ++f)
    exit_code = std::max(exit_code, write_figure(figures[f], f, jobs, folder));
  if (!print_diagnostics(figures)) return kUsageError;
  const auto& all = jobs.jobs();
  const auto kept = std::count_if(all.begin(), all.end(), [](const auto& job) { return job.kept; });
  fmt::print("{} simulations, {} of them kept from earlier runs\n", all.size(), kept);
  return exit_code;
}

}  // namespace espalier
