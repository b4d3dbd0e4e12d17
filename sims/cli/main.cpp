// The espalier command. SystemC starts with its banner off and calls sc_main.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <systemc>
#include <utility>

#include "hw/clock/clock_domain.h"
#include "sims/cli/commands.h"
#include "sims/cli/embedded_files.h"
#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/process/child_process.h"
#include "sims/study/study.h"
#include "sims/text/nearest_name.h"
#include "sims/text/people.h"
#include "sims/text/text_lines.h"
#include "sims/text/whole_file.h"

namespace {

using namespace espalier;

// The row of command_line.txt for "sweep run --shard"; a row without texts for what help hides.
std::vector<std::string> row_of(std::string name) {
  static const auto rows = table_rows(command_line_file(), "command_line.txt", 3);
  for (;;) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&name](const auto& row) { return row.front() == name; });
    if (found != rows.end()) return *found;
    const std::size_t option = name.rfind(' ');
    if (option == std::string::npos) return {name, "", ""};
    const std::size_t step = name.rfind(' ', option - 1);
    name = step == std::string::npos ? name.substr(option + 1) : name.erase(step, option - step);
  }
}

// A subcommand: its options, whose texts stand in command_line.txt, and its action after they are
// read.
class Command {
 public:
  Command(CLI::App& above, const std::string& name, std::function<int()> run)
      : name_(above.get_parent() == nullptr ? name : above.get_name() + " " + name),
        app_(above.add_subcommand(name, row_of(name_).at(2))),
        run_(std::move(run)) {}

  [[nodiscard]] CLI::App& app() const { return *app_; }
  [[nodiscard]] int run() const { return run_(); }

  // An option or a positional argument. An option that may be repeated takes one value each time.
  template <class Value>
  CLI::Option* option(const std::string& names, Value& value) {
    const std::vector<std::string> row = row_of(name_ + " " + names);
    const std::string& type = row.at(1);
    CLI::Option* option = app_->add_option(names, value, row.at(2));
    if (type.substr(0, 1) == "{") {
      option->check(CLI::IsMember(CLI::detail::split(type.substr(1, type.size() - 2), ',')));
    } else if (!type.empty()) {
      option->type_name(type);
    }
    return option->get_positional() ? option : option->allow_extra_args(false);
  }

  CLI::Option* flag(const std::string& names, bool& value) {
    return app_->add_flag(names, value, row_of(name_ + " " + names).at(2));
  }

  // A file, or "-" for stdout.
  CLI::Option* file(const std::string& names, std::string& path) {
    return option(names, path)->check([](const std::string& name) {
      return std::string(
          name.empty() ? "the name of the file is empty; write a file name, or - for stdout" : "");
    });
  }

 private:
  std::string name_;  // "sweep run"
  CLI::App* app_;
  std::function<int()> run_;
};

// A subcommand with options of its own: `declare` names them, and `act` gets what was given.
template <class Options>
Command declared(CLI::App& app, const std::string& name, int (*act)(const Options&),
                 void (*declare)(Command&, Options&)) {
  const auto options = std::make_shared<Options>();
  Command command(app, name, [options, act] { return act(*options); });
  declare(command, *options);
  return command;
}

// What `run` and `explain` share.
void declare_simulation(Command& command, RunOptions& options) {
  command.option("config", options.configs)->required();
  command.option("-s,--set", options.overrides);
  command.file("--json", options.json);
  command.file("--csv", options.csv);
  command.file("--waves", options.waves.file);
  command.option("--wave-scope", options.waves.scopes);
  command.option("--wave-from", options.waves.from);
  command.option("--wave-to", options.waves.to);
  command.file("--timeline", options.timeline);
  command.option("-j,--jobs", options.jobs);
  command.flag("--resume", options.resume);
  command.option("--choices", options.choices);
  command.flag("-q,--quiet", options.quiet);
}

void declare_run(Command& command, RunOptions& options) {
  declare_simulation(command, options);
  command.file("--messages", options.messages);
  command.flag("--explain", options.explain);
}

void declare_explain(Command& command, RunOptions& options) {
  declare_simulation(command, options);
  command.flag("--all", options.explain_all);
  command.option("--ni", options.parts.nis);
  command.option("--link", options.parts.links);
  command.option("--step", options.parts.steps);
  command.option("--message", options.parts.messages);
  options.explain = true;
}

void declare_compare(Command& command, CompareOptions& options) {
  command.option("config", options.config)->required();
  command.option("files", options.files);
  command.option("-s,--set", options.overrides);
  command.option("--sizes", options.sizes);
  command.file("-o,--output", options.page);
  command.file("--json", options.json);
  command.file("--csv", options.csv);
  command.option("--time-limit", options.time_limit);
  command.flag("--full", options.full);
  command.flag("--resume", options.resume);
  command.option("--choices", options.choices);
  command.option("-j,--jobs", options.jobs);
}

void declare_latency(Command& command, LatencyOptions& options) {
  command.option("config", options.configs)->required();
  command.option("-s,--set", options.overrides);
  command.option("--loads", options.loads);
  command.file("-o,--output", options.page);
  command.option("--title", options.title);
  command.file("--json", options.json);
  command.file("--csv", options.csv);
  command.flag("--resume", options.resume);
  command.option("-j,--jobs", options.jobs);
}

void declare_schedule(Command& command, ScheduleOptions& options) {
  command.option("config", options.config)->required();
  command.option("-s,--set", options.overrides);
  command.option("-f,--format", options.format)->capture_default_str();
  command.file("-o,--output", options.output);
}

void declare_check(Command& command, CheckOptions& options) {
  command.option("config", options.configs)->required();
  command.option("-s,--set", options.overrides);
  command.flag("--resolved", options.resolved);
}

void declare_certify(Command& command, CertifyOptions& options) {
  command.option("what", options.what)->required();
  command.option("file", options.file)->required();
  command.option("-s,--set", options.overrides);
  command.file("-o,--output", options.output);
}

void declare_area(Command& command, AreaOptions& options) {
  command.option("config", options.configs)->required();
  command.option("-s,--set", options.overrides);
  command.option("--technology", options.technologies);
  command.option("--node", options.nodes);
  CLI::Option* synthesize = command.flag("--synthesize", options.synthesize);
  command.option("--liberty", options.liberty)->needs(synthesize);
  command.flag("--summary", options.summary);
  command.file("--json", options.json);
  command.file("--csv", options.csv);
}

void declare_reorder(Command& command, ReorderOptions& options) {
  command.option("config", options.config)->required();
  command.option("-s,--set", options.overrides);
  command.file("--latency", options.latency);
  command.file("--write-latency", options.write_latency);
  command.file("-o,--output", options.output);
  command.file("--json", options.json);
  command.flag("--no-simulate", options.no_simulate);
  command.option("-j,--jobs", options.jobs);
  command.option("--spread", options.spread)->check(CLI::Range(0, 1000));
}

void declare_report(Command& command, ReportOptions& options) {
  command.option("results", options.results)->required();
  command.file("-o,--output", options.output)->required();
  command.option("--title", options.title);
  command.option("--facet", options.facet);
  command.option("--color", options.color);
  command.option("--mark", options.mark);
  command.option("--tolerance", options.tolerance_percent)
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
}

Command add_sweep_step(CLI::App& sweep, const std::string& name, SweepOptions& options) {
  Command command(sweep, name, {});
  command.option("file", options.file)->required();
  command.option("-o,--output", options.output);
  if (name != "gather") command.option("-s,--set", options.overrides);
  return command;
}

Command add_sweep(CLI::App& app, SweepOptions& options) {
  Command command(app, "sweep", [&app, &options] {
    const CLI::App& sweep = *app.get_subcommand("sweep");
    if (sweep.got_subcommand("plan")) return sweep_plan_command(options);
    if (sweep.got_subcommand("run")) return sweep_run_command(options);
    if (sweep.got_subcommand("gather")) return sweep_gather_command(options);
    tell(stderr, "sweep: one of plan, run, gather is required\n{}", sweep.help());
    return kUsageError;
  });
  command.app().require_subcommand(0, 1);  // the error about a missing step names the steps
  add_sweep_step(command.app(), "plan", options);
  Command run = add_sweep_step(command.app(), "run", options);
  run.option("--time-limit", options.time_limit);
  run.option("--memory-limit", options.memory_limit);
  run.flag("--keep-failed", options.keep_failed);
  run.option("-j,--jobs", options.jobs);
  run.flag("--no-warnings", options.no_warnings);
  run.option("--shard", options.shard);
  run.option("--point", options.point);
  add_sweep_step(command.app(), "gather", options).flag("--partial", options.partial);
  return command;
}

void declare_schema(Command& command, SchemaOptions& options) {
  CLI::Option* results = command.flag("--results", options.results);
  CLI::Option* json = command.flag("--json", options.json);
  command.option("--json-schema", options.json_schema)->excludes(results)->excludes(json);
}

// What a signal of kStopSignals does while no worker runs, for instance while a schedule is planned
// (sims/study/workers.cpp takes them otherwise). Only calls what a signal handler may call.
void end_by_signal(int signal) {
  RemovedOnStop::remove_all();
  const std::string_view text = signal == SIGINT   ? "stopped by SIGINT\n"
                                : signal == SIGHUP ? "stopped by SIGHUP\n"
                                                   : "stopped by SIGTERM\n";
  const std::string_view without_bar = "\r\x1b[K";
  ssize_t ignored =
      isatty(STDERR_FILENO) == 1 ? write(STDERR_FILENO, without_bar.data(), without_bar.size()) : 0;
  ignored = write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
  _exit(exit_code_of_signal(signal));
}

void handle_signals() {
  for (const int signal : kStopSignals) {
    // A caller who ignores a signal, as for workers and jobs in the background, means it.
    if (std::signal(signal, end_by_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  // A file that reaches its limit (ulimit -f) is an output that cannot be written.
  std::signal(SIGXFSZ, SIG_IGN);
}

// JSON results hold the command line, whose words are therefore UTF-8.
std::string unreadable_word(const std::vector<std::string>& words) {
  const auto found = std::find_if_not(words.begin(), words.end(),
                                      [](const std::string& word) { return is_utf8(word); });
  if (found == words.end()) return {};
  return fmt::format(
      "{}: error: this word is not UTF-8, which JSON results cannot contain; rename "
      "the file",
      *found);
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
      "success, 1 a check or a simulation failed, 2 usage, input or output error; 129, 130 and "
      "143 stopped by SIGHUP, SIGINT and SIGTERM.",
      "espalier"};
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);  // a missing command and an unknown command have different errors

  SweepOptions sweep;
  std::vector<Command> commands{declared(app, "run", run_command, declare_run),
                                declared(app, "explain", run_command, declare_explain),
                                declared(app, "schedule", schedule_command, declare_schedule),
                                declared(app, "check", check_command, declare_check),
                                declared(app, "certify", certify_command, declare_certify),
                                declared(app, "area", area_command, declare_area),
                                add_sweep(app, sweep),
                                declared(app, "reorder", reorder_command, declare_reorder),
                                declared(app, "report", report_command, declare_report),
                                declared(app, "compare", compare_command, declare_compare),
                                declared(app, "latency", latency_command, declare_latency)};
  // Simulates one point in a process of its own.
  commands.emplace_back(app, "worker",
                        [] { return work_on_point(std::cin) ? kGood : kCheckFailed; });
  commands.back().app().group("");
  std::string kind;
  bool list_as_json = false;
  commands.emplace_back(app, "list", [&] { return list_command(kind, list_as_json); });
  commands.back().option("kind", kind)->check(CLI::IsMember(list_kinds()));
  commands.back().flag("--json", list_as_json);
  commands.push_back(declared(app, "schema", schema_command, declare_schema));
  std::string shell;
  commands.emplace_back(app, "completion", [&] { return completion_command(shell); });
  commands.back().option("shell", shell)->required();
  CLI::App* complete = nullptr;
  commands.emplace_back(app, "complete",
                        [&] { return complete_command(app, complete->remaining()); });
  complete = commands.back().app().group("")->prefix_command();
  complete->set_help_flag();

  // `help run` is `run --help`.
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (say_mistake({unreadable_word(words), unknown_command(app, words)})) return kUsageError;
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    const int code = app.exit(error, out, problem);
    tell(stdout, "{}", out.str());
    tell(stderr, "{}", problem.str());
    return code == 0 ? kGood : kUsageError;
  }
  for (const Command& command : commands) {
    if (command.app().parsed()) return command.run();
  }
  tell(stderr, "a subcommand is required\n{}", app.help());
  return kUsageError;
}

int dispatch_or_report(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const sc_core::sc_report& report) {
    tell(stderr, "error: {}\n", report.what());
  } catch (const std::invalid_argument& error) {
    tell(stderr, "error: {}\n", error.what());
    return kUsageError;
  } catch (const std::bad_alloc&) {
    tell(stderr, "error: {}: {}\n", argc > 1 ? argv[1] : "espalier", out_of_memory_text());
  } catch (const std::exception& error) {
    // If stdout failed, this error is a consequence; the failure of stdout is reported later.
    if (std::ferror(stdout) == 0) tell(stderr, "error: {}\n", error.what());
  }
  return kCheckFailed;
}

}  // namespace

int sc_main(int argc, char** argv) {
  reserve_standard_streams();
  handle_signals();
  prepare_kernel();
  return exit_code_after_flush(dispatch_or_report(argc, argv));
}

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
