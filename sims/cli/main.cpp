// The espalier command. SystemC starts with its banner off and calls sc_main.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <systemc>
#include <utility>

#include "hw/clock/clock_domain.h"
#include "sims/cli/commands.h"
#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/experiment/point_worker.h"
#include "sims/experiment/workers.h"
#include "sims/text/nearest_name.h"

namespace {

using namespace espalier;

void add_configs(CLI::App& command, std::vector<std::string>& configs) {
  command
      .add_option("config", configs,
                  "configurations (YAML), schedules (.json) or programs (.xml, .trace); - reads a "
                  "configuration from stdin")
      ->required();
}

void add_overrides(
    CLI::App& command, std::vector<std::string>& overrides,
    const std::string& meaning =
        "set a configuration key, for example system.link.latency=100ns; may be repeated") {
  command.add_option("-s,--set", overrides, meaning)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

CLI::Option* add_file(CLI::App& command, const std::string& names, std::string& path,
                      const std::string& meaning) {
  return command.add_option(names, path, meaning)
      ->type_name("FILE")
      ->check([](const std::string& name) {
        return name.empty()
                   ? std::string(
                         "the name of the file is empty; write a file name, or - for stdout")
                   : std::string();
      });
}

void add_value(CLI::App& command, const std::string& names, std::string& value,
               const std::string& type, const std::string& meaning) {
  command.add_option(names, value, meaning)->type_name(type);
}

void add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                    const std::string& type, const std::string& meaning) {
  command.add_option(name, values, meaning + " (repeatable)")
      ->type_name(type)
      ->allow_extra_args(false);
}

// `--json` and `--csv`.
void add_results(CLI::App& command, std::string& json, std::string& csv) {
  add_file(command, "--json", json, "write the results to this file, - for stdout");
  add_file(command, "--csv", csv, "write one line per result to this file, - for stdout");
}

void add_jobs(CLI::App& command, unsigned& jobs) {
  command.add_option("-j,--jobs", jobs,
                     "number of simulations that run at the same time (default: one per core)");
}

void add_choices(CLI::App& command, std::string& folder) {
  add_value(command, "--choices", folder, "FOLDER",
            "keep what algorithm: auto decides in this folder, and take it from there when the "
            "same question comes again");
}

void add_quiet(CLI::App& command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet, "print errors only: no warnings, notes and progress");
}

using Command = std::function<int()>;

// The options of a subcommand, and its action after the options are read.
struct Subcommand {
  CLI::App* app;
  Command run;
};

// `run` and `explain` share their options.
void add_run_options(CLI::App& command, RunOptions& options) {
  add_configs(command, options.configs);
  add_overrides(command, options.overrides);
  add_results(command, options.json, options.csv);
  add_file(command, "--waves", options.waves.file,
           "write waveforms to this file, .fst or .vcd, with a save file for GTKWave");
  add_repeatable(command, "--wave-scope", options.waves.scopes, "GLOB",
                 "write only signals and scopes whose names match, for example 'net.ni_*'");
  add_value(command, "--wave-from", options.waves.from, "POINT",
            "begin the waves at this cycle or timestep: 5000, step:17");
  add_value(command, "--wave-to", options.waves.to, "POINT",
            "end the waves before this cycle, or with this timestep: 6000, step:18");
  add_file(command, "--timeline", options.timeline,
           "write the activity of NIs and links over time to this file, as JSON for Perfetto; it "
           "covers the whole run, also with --wave-from and --wave-to; about 1 KB per message");
  add_jobs(command, options.jobs);
  command.add_flag("--resume", options.resume,
                   "use the finished points that an interrupted run has kept beside its results");
  add_choices(command, options.choices);
  add_quiet(command, options.quiet);
}

Subcommand add_run(CLI::App& app, RunOptions& options) {
  CLI::App* command =
      app.add_subcommand("run", "simulate; print a table, --json writes all results");
  add_run_options(*command, options);
  add_file(*command, "--messages", options.messages,
           "write one line per message to this file: when it was ready and delivered");
  command->add_flag(
      "--explain", options.explain,
      "show which messages and links took the time: critical path, worst slips, slack");
  // Workers only.
  command->add_option("--point", options.point, "")->group("");
  command->add_option("--read", options.files_read, "")->group("")->allow_extra_args(false);
  command->add_option("--stdin", options.stdin_file, "")->group("");
  return {command, [&options] { return run_command(options); }};
}

Subcommand add_explain(CLI::App& app, RunOptions& options) {
  CLI::App* command = app.add_subcommand("explain",
                                         "simulate, and show which messages and links took the "
                                         "time: critical path, worst slips, slack");
  add_run_options(*command, options);
  command->add_flag("--all", options.explain_all,
                    "show the critical path message by message, every place, and the slack");
  options.explain = true;
  return {command, [&options] { return run_command(options); }};
}

Subcommand add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App* command = app.add_subcommand(
      "compare", "simulate every algorithm that suits a network, and rank them by time");
  command
      ->add_option("config", options.config,
                   "configuration (YAML), or a network's file: graph (.yaml), BookSim's anynet "
                   "(.anynet), ASTRA-sim's network (.yml)")
      ->required();
  command->add_option("files", options.files,
                      "own programs (.xml, .trace) and schedules (.json) that compete, too; other "
                      "tools' times (.csv) that stand beside ours");
  add_overrides(*command, options.overrides);
  add_results(*command, options.json, options.csv);
  add_value(*command, "--time-limit", options.time_limit, "TIME",
            "give up an algorithm that is simulated longer: 90s, 10min");
  add_choices(*command, options.choices);
  add_jobs(*command, options.jobs);
  return {command, [&options] { return compare_command(options); }};
}

Subcommand add_latency(CLI::App& app, LatencyOptions& options) {
  CLI::App* command = app.add_subcommand(
      "latency", "simulate traffic at several loads, and find the load that saturates each design");
  add_configs(*command, options.configs);
  add_overrides(*command, options.overrides);
  add_repeatable(*command, "--vary", options.vary, "KEY=V1,V2",
                 "a design for each value of a key; repeated: for each combination");
  add_value(*command, "--loads", options.loads, "LIST",
            "loads in flits per node and cycle: 0.05,0.1,0.2 (default: up to saturation)");
  add_file(*command, "-o,--output", options.page, "write the curves to this HTML page");
  add_value(*command, "--title", options.title, "TEXT", "title of the page");
  add_results(*command, options.json, options.csv);
  add_jobs(*command, options.jobs);
  return {command, [&options] { return latency_command(options); }};
}

Subcommand add_schedule(CLI::App& app, ScheduleOptions& options) {
  CLI::App* command = app.add_subcommand("schedule", "generate a schedule, show or export it");
  command
      ->add_option("config", options.config,
                   "configuration (YAML), schedule (.json) or program (.xml, .trace)")
      ->required();
  add_overrides(*command, options.overrides);
  command
      ->add_option("-f,--format", options.format,
                   "table: NI schedule tables, a plan's chunks and starts, or a program's steps; "
                   "json: a file for run and check, or the plan; dot: Graphviz; flits: bit fields; "
                   "msccl-xml: a collective program; tree-svg: a picture of the first flow's tree; "
                   "slots-svg: a picture of all links in use by planned time")
      ->check(
          CLI::IsMember({"table", "json", "dot", "flits", "msccl-xml", "tree-svg", "slots-svg"}))
      ->capture_default_str();
  add_file(*command, "-o,--output", options.output, "write to this file (default: stdout)");
  return {command, [&options] { return schedule_command(options); }};
}

Subcommand add_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand("check", "certify schedules without simulating them");
  add_configs(*command, options.configs);
  add_overrides(*command, options.overrides);
  return {command, [&options] { return check_command(options); }};
}

Subcommand add_area(CLI::App& app, AreaOptions& options) {
  CLI::App* command =
      app.add_subcommand("area", "area and delay of routers and network interfaces, by block");
  add_configs(*command, options.configs);
  add_overrides(*command, options.overrides);
  add_repeatable(
      *command, "--technology", options.technologies, "NAME",
      "cell library that replaces the configured library; see espalier list technologies");
  add_repeatable(*command, "--node", options.nodes, "LENGTH",
                 "feature size that replaces the configured size, for example 22nm");
  CLI::Option* synthesize = command->add_flag(
      "--synthesize", options.synthesize,
      "measure the blocks of which hw/rtl has Verilog with yosys instead of using the formulas; "
      "takes seconds each");
  command
      ->add_option("--liberty", options.liberty,
                   "map to the cells of this Liberty file; needs --node, the file's feature size")
      ->type_name("FILE")
      ->needs(synthesize);
  command->add_flag("--summary", options.summary,
                    "print one row of a Markdown table for each system instead of its blocks");
  add_file(*command, "--json", options.json, "write the costs to this file, - for stdout");
  add_file(*command, "--csv", options.csv, "write one line per block to this file, - for stdout");
  return {command, [&options] { return area_command(options); }};
}

Subcommand add_reorder(CLI::App& app, ReorderOptions& options) {
  CLI::App* command = app.add_subcommand(
      "reorder", "search for the best assignment of ranks to nodes by measured latencies");
  command->add_option("config", options.config, "configuration (YAML)")->required();
  add_overrides(*command, options.overrides);
  add_file(*command, "--latency", options.latency,
           "read the latencies from this file: a line for each node, separated by commas (default: "
           "probe the simulated network)");
  add_file(*command, "--write-latency", options.write_latency,
           "write the latencies to this file in the form of --latency, - for stdout");
  add_file(*command, "-o,--output", options.output,
           "write the order to this file for collective.rank_order, - for stdout");
  add_file(*command, "--json", options.json, "write the result to this file, - for stdout");
  command->add_flag("--no-simulate", options.no_simulate,
                    "do not simulate the order of the run and the best order");
  add_jobs(*command, options.jobs);
  command
      ->add_option("--spread", options.spread,
                   "number of orders in the JSON, with costs evenly from the best to the worst")
      ->check(CLI::Range(0, 1000));
  return {command, [&options] { return reorder_command(options); }};
}

Subcommand add_report(CLI::App& app, ReportOptions& options) {
  CLI::App* command =
      app.add_subcommand("report", "one self-contained HTML page of results: tables and pictures");
  command
      ->add_option("results", options.results,
                   "files of run --json, folders of sweeps, or their results.jsonl")
      ->required();
  add_file(*command, "-o,--output", options.output, "write to this file, - for stdout")->required();
  add_value(*command, "--title", options.title, "TEXT",
            "title of the page (default: the title of the sweep, or Espalier results)");
  const std::string axis =
      " (a configuration key that differs between the runs, or algorithm, topology, size)";
  add_value(*command, "--facet", options.facet, "AXIS",
            "draw a picture for each value of this axis" + axis);
  add_value(*command, "--color", options.color, "AXIS", "axis that colours stand for");
  add_value(*command, "--mark", options.mark, "AXIS", "axis that marks stand for");
  command
      ->add_option("--tolerance", options.tolerance_percent,
                   "areas and times count as equal up to this difference, in percent")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  return {command, [&options] { return report_command(options); }};
}

CLI::App& add_sweep_step(CLI::App& sweep, const std::string& name, const std::string& meaning,
                         SweepOptions& options) {
  CLI::App* command = sweep.add_subcommand(name, meaning);
  command->add_option("file", options.file, "sweep file (YAML)")->required();
  add_value(*command, "-o,--output", options.output, "FOLDER",
            "folder of the sweep (default: sweeps/ and the file's name)");
  if (name != "gather") {
    add_overrides(*command, options.overrides,
                  "set a configuration key; for a key of an axis, its value or its list of values");
  }
  return *command;
}

void add_limits(CLI::App& command, SweepOptions& options) {
  add_value(command, "--time-limit", options.time_limit, "TIME",
            "time limit of a point, which replaces the limit in the file: 90s, 10min, 2h");
  add_value(command, "--memory-limit", options.memory_limit, "SIZE",
            "limit of a point's address space, which replaces the limit in the file: 4GiB");
  command.add_flag("--keep-failed", options.keep_failed, "do not run failed points again");
}

Subcommand add_sweep(CLI::App& app, SweepOptions& options) {
  CLI::App* sweep = app.add_subcommand("sweep", "design-space sweeps: plan, run, gather");
  sweep->require_subcommand(0, 1);  // the error about a missing step names the steps

  add_sweep_step(*sweep, "plan", "list the points and write the manifest", options);

  CLI::App& run = add_sweep_step(*sweep, "run", "simulate the unfinished points", options);
  add_limits(run, options);
  add_jobs(run, options.jobs);
  run.add_flag("--no-warnings", options.no_warnings,
               "do not repeat the warnings about the file that plan has printed");
  run.add_option("--shard", options.shard,
                 "simulate only this part of the points, 1/N to N/N (default: all points)")
      ->type_name("I/N");
  add_value(run, "--point", options.point, "ID",
            "simulate only this point, even if it is finished");

  CLI::App& gather = add_sweep_step(*sweep, "gather",
                                    "write results.csv and results.jsonl of all points", options);
  gather.add_flag("--partial", options.partial, "write the files even if points are missing");

  return {sweep, [sweep, &options] {
            if (sweep->got_subcommand("plan")) return sweep_plan_command(options);
            if (sweep->got_subcommand("run")) return sweep_run_command(options);
            if (sweep->got_subcommand("gather")) return sweep_gather_command(options);
            std::fprintf(stderr, "sweep: one of plan, run, gather is required\n%s",
                         sweep->help().c_str());
            return kUsageError;
          }};
}

Subcommand add_schema(CLI::App& app, SchemaOptions& options) {
  CLI::App* command =
      app.add_subcommand("schema", "list every configuration key with type, default and meaning");
  CLI::Option* results = command->add_flag("--results", options.results,
                                           "list every field of a result with unit and meaning");
  CLI::Option* markdown = command
                              ->add_flag("--markdown", options.markdown,
                                         "with --results: write the table of docs/results.md")
                              ->needs(results);
  CLI::Option* json = command
                          ->add_flag("--json", options.json,
                                     "write the keys, or with --results the fields, as a list of "
                                     "JSON objects")
                          ->excludes(markdown);
  command
      ->add_option("--json-schema", options.json_schema,
                   "write a JSON Schema (draft-07) of these files, for editors and other programs")
      ->check(CLI::IsMember({"config", "sweep", "results"}))
      ->excludes(results)
      ->excludes(markdown)
      ->excludes(json);
  return {command, [&options] { return schema_command(options); }};
}

// The subcommand that simulates one point for a sweep, in a process of its own.
Subcommand add_worker(CLI::App& app, std::vector<std::string>& words, WorkerTask& task) {
  CLI::App* command = app.add_subcommand("worker", "")->group("");
  command->add_flag("--explain", task.explain);
  command->add_option("--schedule", task.schedule);
  command->add_option("--choices", task.choices);
  command->add_option("--rank-order", task.rank_order)->delimiter(',')->allow_extra_args(false);
  command->add_option("point", words)->expected(-2)->required();
  return {command, [&words, &task] { return work_on_point(words, task) ? kGood : kCheckFailed; }};
}

// Returns an error text if the first word is not a known command.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().rfind('-', 0) == 0) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == words.front()) return {};
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return fmt::format("error: '{}' is not a command\nhint: {}", words.front(),
                     name_hint(words.front(), names));
}

int dispatch(int argc, char** argv) {
  CLI::App app{
      "Espalier simulates collectives on accelerator interconnects, to the cycle.\nExit codes: 0 "
      "success, 1 a check or a simulation failed, 2 usage, input or output error; 130 and 143 "
      "stopped by SIGINT and SIGTERM.",
      "espalier"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);  // a missing command and an unknown command have different errors

  RunOptions run;
  RunOptions explain;
  ScheduleOptions schedule;
  CheckOptions check;
  AreaOptions area;
  SweepOptions sweep;
  ReorderOptions reorder;
  ReportOptions report;
  CompareOptions compare;
  LatencyOptions latency;
  std::vector<std::string> worker;
  WorkerTask task;
  std::vector<Subcommand> subcommands{
      add_run(app, run),         add_explain(app, explain),     add_schedule(app, schedule),
      add_check(app, check),     add_area(app, area),           add_sweep(app, sweep),
      add_reorder(app, reorder), add_worker(app, worker, task), add_report(app, report),
      add_compare(app, compare), add_latency(app, latency)};
  std::string kind;
  bool list_as_json = false;
  CLI::App* list = app.add_subcommand("list", "list the names that configurations may use");
  list->add_option("kind", kind, "kind of names to list")->check(CLI::IsMember(list_kinds()));
  list->add_flag("--json", list_as_json, "write a list of JSON objects");
  subcommands.push_back({list, [&] { return list_command(kind, list_as_json); }});
  SchemaOptions schema;
  subcommands.push_back(add_schema(app, schema));
  std::string shell;
  CLI::App* completion =
      app.add_subcommand("completion", "write a script that completes words in a shell");
  completion->add_option("shell", shell, "the shell")
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->required();
  subcommands.push_back({completion, [&] { return completion_command(shell); }});
  CLI::App* complete = app.add_subcommand("complete", "")->group("")->prefix_command();
  complete->set_help_flag();
  subcommands.push_back({complete, [&] { return complete_command(app, complete->remaining()); }});
  CLI::App* man = app.add_subcommand("man", "write the manual page, for man");
  subcommands.push_back({man, [&] { return man_command(app); }});

  // `help run` is `run --help`.
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (const std::string mistake = unknown_command(app, words); !mistake.empty()) {
    fmt::print(stderr, "{}\n", mistake);
    return kUsageError;
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kGood : kUsageError;
  }
  for (const Subcommand& subcommand : subcommands) {
    if (subcommand.app->parsed()) return subcommand.run();
  }
  std::fprintf(stderr, "a subcommand is required\n%s", app.help().c_str());
  return kUsageError;
}

int dispatch_or_report(int argc, char** argv) {
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
    // If stdout failed, this error is a consequence; the failure of stdout is reported later.
    if (std::ferror(stdout) == 0) std::fprintf(stderr, "error: %s\n", error.what());
  }
  return kCheckFailed;
}

}  // namespace

int sc_main(int argc, char** argv) {
  reserve_standard_streams();
  prepare_kernel();
  return exit_code_after_flush(dispatch_or_report(argc, argv));
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
