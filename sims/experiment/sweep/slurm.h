// A sweep as a Slurm job array, and a dependent job that gathers the results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

struct SlurmJob {
  std::string name;
  std::string working_folder;            // absolute; paths in the commands are relative to it
  std::vector<std::string> run_command;  // runs one shard; the Slurm task determines which
  std::vector<std::string> gather_command;
  std::filesystem::path log_folder;
  std::size_t tasks = 1;
  std::vector<std::string> options;  // of sbatch, for both jobs, one word each: "--time=1:00:00"
};

[[nodiscard]] std::string array_script(const SlurmJob& job);
[[nodiscard]] std::string gather_script(const SlurmJob& job);

struct Submission {
  std::string job;      // job number; empty on failure
  std::string problem;  // reason of a failure
};

// Passes `options` to sbatch before the script.
[[nodiscard]] Submission submit_script(const std::filesystem::path& script,
                                       const std::vector<std::string>& options);

// Quotes a word for a POSIX shell.
[[nodiscard]] std::string shell_word(const std::string& word);
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

}  // namespace espalier
