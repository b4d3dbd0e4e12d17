#include "sims/sweep/slurm.h"

#include <fmt/format.h>

#include <boost/filesystem/path.hpp>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <boost/process/search_path.hpp>
#include <iterator>
#include <system_error>

namespace espalier {

namespace {

std::string header(const SlurmJob& job, const std::string& name, const std::string& log) {
  return fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --chdir={}\n"
      "#SBATCH --output={}\n",
      shell_word(name), shell_word(job.working_folder),
      shell_word((job.log_folder / log).string()));
}

}  // namespace

std::string array_script(const SlurmJob& job) {
  std::string text = header(job, job.name, "slurm-%A_%a.log");
  text += fmt::format("#SBATCH --array=1-{}\n", job.tasks);
  for (const std::string& option : job.options) text += fmt::format("#SBATCH {}\n", option);
  // In place of the shell, so that Slurm's signals reach it.
  return text + "exec " + shell_line(job.run_command) + "\n";
}

std::string gather_script(const SlurmJob& job) {
  return header(job, job.name + "-gather", "slurm-gather-%j.log") + "exec " +
         shell_line(job.gather_command) + "\n";
}

Submission submit_script(const std::filesystem::path& script,
                         const std::vector<std::string>& options) {
  namespace bp = boost::process;
  const auto sbatch = bp::search_path("sbatch");
  if (sbatch.empty()) return {{}, "there is no sbatch on the PATH"};
  std::vector<std::string> arguments{"--parsable"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(script.string());
  bp::ipstream output;
  std::error_code error;
  bp::child child(sbatch, bp::args(arguments), bp::std_out > output, bp::std_in < bp::null, error);
  if (error) return {{}, fmt::format("sbatch cannot be started: {}", error.message())};
  std::string job{std::istreambuf_iterator<char>(output), {}};
  child.wait(error);
  job = job.substr(0, job.find_first_of(";\n"));  // "NUMBER;CLUSTER"
  if (child.exit_code() != 0 || job.empty())
    return {{}, fmt::format("sbatch failed with exit code {}", child.exit_code())};
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
