#pragma once

#include <string>
#include <vector>

namespace espalier {

struct FigureOptions {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
  std::string output = "figures";  // folder of everything that is written
  bool plan = false;               // list the points, simulate nothing
  unsigned jobs = 0;               // processes at once; 0: one per core
  std::string program;             // this executable, for workers
};

// Returns an exit code.
[[nodiscard]] int figure_command(const FigureOptions& options);

}  // namespace espalier
