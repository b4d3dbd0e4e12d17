// The espalier command. SystemC is started with its banner off and hands over to sc_main.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <systemc>

#include "sims/cli/area_command.h"
#include "sims/cli/check_command.h"
#include "sims/cli/exit_codes.h"
#include "sims/cli/figure_command.h"
#include "sims/cli/list_command.h"
#include "sims/cli/reorder_command.h"
#include "sims/cli/report_command.h"
#include "sims/cli/run_command.h"
#include "sims/cli/schedule_command.h"
#include "sims/cli/sweep_options.h"
#include "sims/cli/timeline_option.h"
#include "sims/cli/version.h"
#include "sims/experiment/point_worker.h"
#include "sims/experiment/workers.h"

namespace {

using namespace espalier;

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command
      .add_option("-s,--set", overrides,
                  "override a configuration key: system.link.latency=100ns (repeatable; names as "
                  "in the file)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

int dispatch(int argc, char** argv) {
  CLI::App app{
      "Espalier: what a collective costs on an accelerator interconnect, to the cycle.\n"
      "Exit codes: 0 good, 1 a check or a simulation failed, 2 usage or input error; 130 and 143 "
      "stopped by SIGINT and SIGTERM."};
  app.set_version_flag("--version", std::string("espalier ") + kVersion);
  app.require_subcommand(0, 1);  // none is told apart below from an unknown one

  RunOptions run;
  run.program = "/proc/self/exe";
  std::size_t point = 0;
  CLI::App* run_app =
      app.add_subcommand("run", "simulate; a table for people, --json for machines");
  run_app
      ->add_option("config", run.configs,
                   "configuration (YAML), schedule (.json) or program (.xml, .trace) files")
      ->required();
  add_overrides(*run_app, run.overrides);
  run_app->add_option("--json", run.json, "write the results to this file, - for stdout")
      ->type_name("FILE");
  run_app->add_option("--csv", run.csv, "write one line per result to this file, - for stdout")
      ->type_name("FILE");
  run_app
      ->add_option("--messages", run.messages,
                   "write a line for every message to this file: when it was ready and delivered")
      ->type_name("FILE");
  add_wave_options(*run_app, run.waves);
  add_timeline_option(*run_app, run.timeline);
  run_app->add_flag("--explain", run.explain,
                    "say where the time went: critical path, worst slips, slack");
  run_app->add_option("-j,--jobs", run.jobs, "simulations at once (default: one per core)");
  CLI::Option* point_option = run_app->add_option("--point", point, "")->group("");
  run_app->add_option("--read", run.files_read, "")->group("")->allow_extra_args(false);

  CLI::App* explain_app = app.add_subcommand(
      "explain", "simulate, and say where the time went: critical path, worst slips, slack");
  explain_app
      ->add_option("config", run.configs,
                   "configuration (YAML), schedule (.json) or program (.xml, .trace) files")
      ->required();
  add_overrides(*explain_app, run.overrides);
  explain_app
      ->add_option("--json", run.json, "write results and accounts to this file, - for stdout")
      ->type_name("FILE");
  explain_app->add_option("--csv", run.csv, "write one line per result to this file, - for stdout")
      ->type_name("FILE");
  add_wave_options(*explain_app, run.waves);
  add_timeline_option(*explain_app, run.timeline);
  explain_app->add_option("-j,--jobs", run.jobs, "simulations at once (default: one per core)");

  ScheduleOptions schedule;
  CLI::App* schedule_app = app.add_subcommand("schedule", "generate a schedule, show or export it");
  schedule_app
      ->add_option("config", schedule.config,
                   "configuration (YAML), schedule (.json) or program (.xml, .trace) file")
      ->required();
  add_overrides(*schedule_app, schedule.overrides);
  schedule_app
      ->add_option("-f,--format", schedule.format,
                   "table: NI schedule tables, a plan's chunks and starts, or a program's steps; "
                   "json: a file for run and check, or the plan; dot: Graphviz; flits: bit fields; "
                   "msccl-xml: a collective program")
      ->check(CLI::IsMember({"table", "json", "dot", "flits", "msccl-xml"}))
      ->capture_default_str();
  schedule_app->add_option("-o,--output", schedule.output, "write to this file (default: stdout)")
      ->type_name("FILE");

  CheckOptions check;
  CLI::App* check_app = app.add_subcommand("check", "certify schedules without simulating them");
  check_app
      ->add_option("config", check.configs,
                   "configuration (YAML), schedule (.json) or program (.xml, .trace) files")
      ->required();
  add_overrides(*check_app, check.overrides);

  AreaOptions area;
  CLI::App* area_app = app.add_subcommand(
      "area", "what routers and network interfaces cost in area and delay, block by block");
  area_app
      ->add_option("config", area.configs,
                   "configuration (YAML), schedule (.json) or program (.xml, .trace) files")
      ->required();
  add_overrides(*area_app, area.overrides);
  area_app
      ->add_option("--technology", area.technologies,
                   "cell library in place of the configured one (repeatable; espalier list "
                   "technologies)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  area_app
      ->add_option("--node", area.nodes,
                   "feature size in place of the configured one: 22nm (repeatable)")
      ->type_name("LENGTH")
      ->allow_extra_args(false);
  area_app->add_flag("--synthesize", area.synthesize,
                     "measure NI control, dependency table, FIFO control and SCF finder with yosys "
                     "in place of the formulas; seconds each");
  area_app->add_option("--json", area.json, "write the costs to this file, - for stdout")
      ->type_name("FILE");
  area_app->add_option("--csv", area.csv, "write one line per block to this file, - for stdout")
      ->type_name("FILE");

  FigureOptions figure;
  figure.program = run.program;
  CLI::App* figure_app = app.add_subcommand(
      "figure", "simulate what figure files describe; CSV, gnuplot script and SVG of each");
  figure_app->add_option("file", figure.files, "figure files (YAML)");
  add_overrides(*figure_app, figure.overrides);
  figure_app
      ->add_option("-o,--output", figure.output,
                   "folder of the figures, and of finished points: a figure that was interrupted "
                   "goes on")
      ->type_name("FOLDER")
      ->capture_default_str();
  figure_app->add_flag("--plan", figure.plan, "list the points, simulate nothing");
  figure_app->add_option("-j,--jobs", figure.jobs, "simulations at once (default: one per core)");

  SweepOptions sweep;
  CLI::App* sweep_app = add_sweep_command(app, sweep);

  ReorderOptions reorder;
  CLI::App* reorder_app = app.add_subcommand(
      "reorder", "search which node should be which rank, by measured latencies");
  reorder_app->add_option("config", reorder.config, "configuration (YAML) file")->required();
  add_overrides(*reorder_app, reorder.overrides);
  reorder_app
      ->add_option("--latency", reorder.latency,
                   "latencies that were measured elsewhere, comma-separated, a line for each node; "
                   "default: probes through the simulated network")
      ->type_name("FILE");
  reorder_app
      ->add_option("--write-latency", reorder.write_latency,
                   "write the latencies, probed or read, to this file, for --latency; - for stdout")
      ->type_name("FILE");
  reorder_app
      ->add_option("-o,--output", reorder.output,
                   "write the order to this file, for collective.rank_order; - for stdout")
      ->type_name("FILE");
  reorder_app->add_option("--json", reorder.json, "write the result to this file, - for stdout")
      ->type_name("FILE");
  reorder_app
      ->add_option("--spread", reorder.spread,
                   "in the JSON, so many orders whose costs are spread from the best to the worst")
      ->check(CLI::Range(0, 1000));

  std::vector<std::string> worker;
  CLI::App* worker_app = app.add_subcommand("worker", "")->group("");
  worker_app->add_option("point", worker)->required()->expected(-2);

  ReportOptions report;
  CLI::App* report_app =
      app.add_subcommand("report", "one self-contained HTML page of results: tables and pictures");
  report_app
      ->add_option("results", report.results,
                   "documents of run --json, folders of sweeps, their results.jsonl")
      ->required();
  report_app->add_option("-o,--output", report.output, "write to this file, - for stdout")
      ->type_name("FILE")
      ->required();
  report_app->add_option("--title", report.title, "of the page")
      ->type_name("TEXT")
      ->default_val("Espalier results");

  std::string kind;
  CLI::App* list_app = app.add_subcommand("list", "everything that is selected by name");
  list_app->add_option("kind", kind, "one kind only")->check(CLI::IsMember(list_kinds()));
  CLI::App* schema_app =
      app.add_subcommand("schema", "every configuration key with type, default and meaning");
  bool results_schema = false;
  bool markdown_schema = false;
  CLI::Option* results_option = schema_app->add_flag(
      "--results", results_schema, "every field of a result with unit and meaning instead");
  schema_app
      ->add_flag("--markdown", markdown_schema, "with --results: the table of docs/results.md")
      ->needs(results_option);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kGood : kUsageError;
  }
  if (*explain_app) {
    run.explain = true;
    return run_command(run);
  }
  if (*run_app) {
    if (*point_option) run.point = point;
    return run_command(run);
  }
  if (*schedule_app) return schedule_command(schedule);
  if (*check_app) return check_command(check);
  if (*area_app) return area_command(area);
  if (*reorder_app) return reorder_command(reorder);
  if (*figure_app) {
    if (!figure.files.empty()) return figure_command(figure);
    std::fprintf(stderr, "figure: file is required\n");
    return kUsageError;
  }
  if (*report_app) return report_command(report);
  if (*sweep_app) return sweep_command(*sweep_app, sweep);
  if (*worker_app) return work_on_point(worker) ? kGood : kCheckFailed;
  if (*list_app) return list_command(kind);
  if (*schema_app) return schema_command(results_schema, markdown_schema);
  std::fprintf(stderr, "a subcommand is required\n%s", app.help().c_str());
  return kUsageError;
}

}  // namespace

int sc_main(int argc, char** argv) {
  // Before any sc_time exists. Femtoseconds: router clocks need not divide a picosecond.
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  // The kernel renames modules with a warning; names are our interface, so a warning is an error.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  try {
    return dispatch(argc, argv);
  } catch (const sc_core::sc_report& report) {
    std::fprintf(stderr, "error: %s\n", report.what());
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return kUsageError;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: %s: %s\n", argc > 1 ? argv[1] : "espalier",
                 out_of_memory_text().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return kCheckFailed;
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
