// Other programs, run to their end: gnuplot, sbatch, yosys.
#pragma once

#include <string>
#include <vector>

namespace espalier {

// The program's path, by PATH; empty where it is not installed.
[[nodiscard]] std::string find_program(const std::string& name);

struct ChildOutcome {
  std::string problem;  // why the program could not be started; empty if it was
  int exit_code = -1;   // the signal's number if a signal ended the program
  std::string out;
  std::string err;
};

// Runs the program in `folder` without input, and waits until it ends. Processes that the program
// leaves behind are not waited for.
[[nodiscard]] ChildOutcome run_child(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     const std::string& folder = ".");

}  // namespace espalier
