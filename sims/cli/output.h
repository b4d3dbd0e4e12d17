// Exit codes, and the one place where results leave the program: files are written beside and
// renamed, and the program ends well only if stdout took all that was written to it.
#pragma once

#include <string>
#include <vector>

namespace espalier {

inline constexpr int kGood = 0;
inline constexpr int kCheckFailed = 1;  // a certificate, a simulation or its data check
inline constexpr int kUsageError = 2;   // command line, input files, or outputs

// 130 after SIGINT, 143 after SIGTERM, as in shells.
[[nodiscard]] inline int exit_code_of_signal(int signal) { return 128 + signal; }

// A file that a command reads or writes: "--json", or "configuration file", and its path.
struct CommandFile {
  std::string what;
  std::string path;
};

// Why these outputs cannot be written: a second one to stdout ("-"), a file that is an input or
// another output, or a place that refuses a new file. Empty if all can. Outputs with an empty path
// are not wanted. Commands ask before they simulate.
[[nodiscard]] std::string output_mistake(const std::vector<CommandFile>& outputs,
                                         const std::vector<CommandFile>& inputs);

// Writes to file `target`, or to stdout for "-". A regular file keeps its old contents until the
// new ones are complete. Returns false, and says so on stderr, if the file cannot be written.
[[nodiscard]] bool write_text(const std::string& target, const std::string& text);

// Opens stdin, stdout and stderr if the caller closed them, so that no other file gets their
// descriptors. Writing to a stdout that was closed fails.
void reserve_standard_streams();

// `exit_code`, or kUsageError if stdout lost output: a full disk, a closed descriptor.
[[nodiscard]] int exit_code_after_flush(int exit_code);

// `asked` unless it is 0; then the processors that Slurm gave the job, or all of the machine.
[[nodiscard]] unsigned jobs_at_once(unsigned asked);

}  // namespace espalier
