#include "sims/experiment/sweep/slurm.h"

#include <fmt/format.h>

#include "sims/process/child_process.h"

namespace espalier {

namespace {

// In names of logs, Slurm interprets "%" and the following character.
std::string without_patterns(const std::string& folder) {
  std::string text;
  for (const char c : folder) text += c == '%' ? "%%" : std::string(1, c);
  return text;
}

std::string directive(const std::string& option) {
  return fmt::format("#SBATCH {}\n", shell_word(option));
}

std::string header(const SlurmJob& job, const std::string& name, const std::string& log) {
  return directive("--job-name=" + name) + directive("--chdir=" + job.working_folder) +
         directive("--output=" + without_patterns(job.log_folder.string()) + "/" + log);
}

// Options that select the array's tasks, and how many run at a time. They apply only to the array
// job.
bool is_of_array(const std::string& option) {
  return option.rfind("--array", 0) == 0 || option.rfind("-a", 0) == 0;
}

}  // namespace

std::string array_script(const SlurmJob& job) {
  std::string text = "#!/bin/bash\n" + header(job, job.name, "slurm-%A_%a.log");
  text += directive(fmt::format("--array=1-{}", job.tasks));
  for (const std::string& option : job.options) text += directive(option);
  // exec replaces the shell, so that Slurm's signals reach the program.
  return text + "exec " + shell_line(job.run_command) + "\n";
}

std::string gather_script(const SlurmJob& job) {
  std::string text = "#!/bin/bash\n";
  // A cluster may refuse jobs without account, partition or time, so this job gets the user's
  // options too. Its own name and log come last, because the last option wins.
  for (const std::string& option : job.options) {
    if (!is_of_array(option)) text += directive(option);
  }
  return text + header(job, job.name + "-gather", "slurm-gather-%j.log") + "exec " +
         shell_line(job.gather_command) + "\n";
}

Submission submit_script(const std::filesystem::path& script,
                         const std::vector<std::string>& options) {
  const std::string sbatch = find_program("sbatch");
  if (sbatch.empty()) return {{}, "sbatch is not on the PATH"};
  std::vector<std::string> arguments{"--parsable"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(script.string());
  const ChildOutcome submitted = run_child(sbatch, arguments);
  if (!submitted.problem.empty())
    return {{}, fmt::format("sbatch cannot be started: {}", submitted.problem)};
  const std::string job =
      submitted.out.substr(0, submitted.out.find_first_of(";\n"));  // "NUMBER;CLUSTER"
  if (submitted.exit_code != 0 || job.empty()) {
    return {{},
            fmt::format("sbatch failed with exit code {}: {}", submitted.exit_code, submitted.err)};
  }
  return {job, {}};
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_./=:,%+@") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace espalier
