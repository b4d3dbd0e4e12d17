// Exit codes, and all output of results. Files are written under another name and then renamed. The
// program succeeds only if stdout accepted everything.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

inline constexpr int kGood = 0;
inline constexpr int kCheckFailed = 1;  // a certificate, a simulation or its data check
inline constexpr int kUsageError = 2;   // command line, input files, or outputs

// 129 after SIGHUP, 130 after SIGINT, 143 after SIGTERM, as in shells.
[[nodiscard]] inline int exit_code_of_signal(int signal) { return 128 + signal; }

// A file that a command reads or writes: its kind ("--json" or "configuration file") and its path.
struct CommandFile {
  std::string what;
  std::string path;
};

// The reason why these outputs cannot be written: a second output to stdout ("-"), a file that is
// an input or another output, or a place that refuses a new file. Empty if all can be written.
// Outputs with an empty path are ignored. Commands check this before they simulate.
[[nodiscard]] std::string output_mistake(const std::vector<CommandFile>& outputs,
                                         const std::vector<CommandFile>& inputs);

// Prints the first text that is not empty. Returns false if all are empty.
[[nodiscard]] bool say_mistake(const std::vector<std::string>& mistakes);

// Prints that reason. Returns false if there is one.
[[nodiscard]] bool can_write(const std::vector<CommandFile>& outputs,
                             const std::vector<CommandFile>& inputs);

// Where the time of a run went, for people. `result`: a run's JSON with its "explanation". An
// account of parts that were asked for is brief without the other parts.
enum class ExplanationDetail { brief, all };
[[nodiscard]] std::string explanation_text(const nlohmann::ordered_json& result,
                                           ExplanationDetail detail);

// Prints "WHAT: error: PROBLEM" and returns kUsageError.
int usage_error(const std::string& what, const std::string& problem);

// The first output that is a file: not stdout, a device or a pipe. Empty if there is none.
[[nodiscard]] std::string first_file(const std::vector<std::string>& outputs);

// Writes to file `target`, or to stdout for "-". A regular file keeps its old contents until the
// new contents are complete. If the file cannot be written, prints an error to stderr and returns
// false.
[[nodiscard]] bool write_text(const std::string& target, const std::string& text);

// Opens stdin, stdout and stderr if the caller closed them, so that no other file gets their
// descriptors. Writing to such a stdout fails.
void reserve_standard_streams();

// Returns `exit_code`, or kUsageError if stdout lost output (a full disk, a closed descriptor).
[[nodiscard]] int exit_code_after_flush(int exit_code);

// The words that call a command: its inputs, its settings, and the options that have a value.
[[nodiscard]] std::vector<std::string> command_words(
    const char* command, const std::vector<std::string>& inputs,
    const std::vector<std::string>& overrides,
    const std::vector<std::pair<const char*, std::string>>& options = {});

}  // namespace espalier
