#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

struct SweepOptions {
  std::string file;
  std::vector<std::string> overrides;
  std::string output;  // folder of the sweep; empty: sweeps/ and the file's stem

  // run
  unsigned jobs = 0;       // processes at once; 0: as many as there are processors for it
  bool has_shard = false;  // false: as Slurm says, or all
  std::string shard;       // "i/n"
  std::string point;       // an id; empty: all that are missing
  std::string time_limit;
  std::string memory_limit;
  bool keep_failed = false;

  bool partial = false;  // gather

  // submit
  bool slurm = false;
  std::size_t array_size = 0;  // tasks; 0: one for each point, at most 100
  std::vector<std::string> sbatch_options;
  bool dry_run = false;
};

// These return an exit code.
[[nodiscard]] int sweep_plan_command(const SweepOptions& options);
[[nodiscard]] int sweep_run_command(const SweepOptions& options);
[[nodiscard]] int sweep_gather_command(const SweepOptions& options);
[[nodiscard]] int sweep_submit_command(const SweepOptions& options);

}  // namespace espalier
