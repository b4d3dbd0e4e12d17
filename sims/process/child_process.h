// Runs other programs to their end: gnuplot, sbatch, yosys.
#pragma once

#include <string>
#include <vector>

namespace espalier {

// Finds the program's path with PATH; empty if it is not installed.
[[nodiscard]] std::string find_program(const std::string& name);

struct ChildOutcome {
  std::string problem;  // why the program could not be started; empty if it was
  int exit_code = -1;   // the signal's number if a signal ended the program
  std::string out;
  std::string err;
};

// Runs the program in `folder` without input and waits until it ends. Does not wait for processes
// that the program leaves behind.
[[nodiscard]] ChildOutcome run_child(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     const std::string& folder = ".");

}  // namespace espalier
