#include "sims/cli/sweep_options.h"

#include <cstdio>

#include "sims/cli/exit_codes.h"

namespace espalier {

namespace {

CLI::App* add(CLI::App& sweep, const std::string& name, const std::string& help,
              SweepOptions& options) {
  CLI::App* command = sweep.add_subcommand(name, help);
  command->add_option("file", options.file, "sweep file (YAML)")->required();
  command
      ->add_option("-o,--output", options.output,
                   "folder of the sweep (default: sweeps/ and the file's name)")
      ->type_name("FOLDER");
  return command;
}

void add_overrides(CLI::App& command, SweepOptions& options) {
  command
      .add_option("-s,--set", options.overrides,
                  "override a configuration key; of an axis: its value, or its list of values")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_limits(CLI::App& command, SweepOptions& options) {
  command
      .add_option("--time-limit", options.time_limit,
                  "of each point, in place of the file's: 90s, 10min, 2h")
      ->type_name("TIME");
  command
      .add_option("--memory-limit", options.memory_limit,
                  "of each point, in place of the file's: address space, 4GiB")
      ->type_name("SIZE");
  command.add_flag("--keep-failed", options.keep_failed, "do not try again what failed before");
}

}  // namespace

CLI::App* add_sweep_command(CLI::App& app, SweepOptions& options) {
  CLI::App* sweep =
      app.add_subcommand("sweep", "design-space sweeps: plan, run, gather, submit to a cluster");
  sweep->require_subcommand(0, 1);

  CLI::App* plan = add(*sweep, "plan", "list the points and write the manifest", options);
  add_overrides(*plan, options);

  CLI::App* run = add(*sweep, "run", "simulate the points that are not finished", options);
  add_overrides(*run, options);
  add_limits(*run, options);
  run->add_option("-j,--jobs", options.jobs, "simulations at once (default: one per core)");
  run->add_option("--shard", options.shard,
                  "this part of the points only, from 1/N to N/N (default: the task of a Slurm "
                  "array, or all)")
      ->type_name("I/N");
  run->add_option("--point", options.point, "this point only, finished or not")->type_name("ID");

  CLI::App* gather = add(*sweep, "gather", "results.csv and results.jsonl of all points", options);
  gather->add_flag("--partial", options.partial, "write them even if points are missing");

  CLI::App* submit = add(*sweep, "submit", "run as a job array, and gather behind it", options);
  add_overrides(*submit, options);
  add_limits(*submit, options);
  submit->add_flag("--slurm", options.slurm, "with sbatch");
  submit
      ->add_option("--array-size", options.array_size,
                   "tasks (default: one for each point, at most 100)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  submit
      ->add_option("--sbatch-option", options.sbatch_options,
                   "for the array and gather, a word: --sbatch-option=--time=1:00:00 (repeatable)")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  submit->add_flag("--dry-run", options.dry_run, "write the scripts, submit nothing");
  return sweep;
}

int sweep_command(const CLI::App& sweep, SweepOptions options) {
  if (sweep.got_subcommand("plan")) return sweep_plan_command(options);
  if (const CLI::App* run = sweep.get_subcommand("run"); run->parsed()) {
    options.has_shard = run->count("--shard") != 0;
    return sweep_run_command(options);
  }
  if (sweep.got_subcommand("gather")) return sweep_gather_command(options);
  if (sweep.got_subcommand("submit")) return sweep_submit_command(options);
  std::fprintf(stderr, "sweep: one of plan, run, gather, submit is required\n%s",
               sweep.help().c_str());
  return kUsageError;
}

}  // namespace espalier
