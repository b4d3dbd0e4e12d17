// A sweep as a Slurm job array, and a job behind it that gathers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

struct SlurmJob {
  std::string name;
  std::string working_folder;            // absolute; paths in the command start there
  std::vector<std::string> run_command;  // one shard; the task says which
  std::vector<std::string> gather_command;
  std::filesystem::path log_folder;
  std::size_t tasks = 1;
  std::vector<std::string> options;  // of sbatch, for both jobs, a word each: "--time=1:00:00"
};

[[nodiscard]] std::string array_script(const SlurmJob& job);
[[nodiscard]] std::string gather_script(const SlurmJob& job);

struct Submission {
  std::string job;      // its number; empty on failure
  std::string problem;  // why
};

// `options` before the script.
[[nodiscard]] Submission submit_script(const std::filesystem::path& script,
                                       const std::vector<std::string>& options);

// A word as a POSIX shell reads it back.
[[nodiscard]] std::string shell_word(const std::string& word);
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

}  // namespace espalier
