#include "sims/report/figure/gnuplot.h"

#include <fmt/format.h>

#include "sims/process/child_process.h"

namespace espalier {

std::string run_gnuplot(const std::filesystem::path& script) {
  const std::string program = find_program("gnuplot");
  const std::string name = script.filename().string();
  const std::string folder =
      script.has_parent_path() ? script.parent_path().string() : std::string(".");
  if (program.empty()) {
    return fmt::format(
        "no picture: gnuplot is not installed (Debian: apt-get install gnuplot-nox); then: "
        "cd {} && gnuplot {}",
        folder, name);
  }
  const ChildOutcome gnuplot = run_child(program, {name}, folder);
  if (!gnuplot.problem.empty())
    return fmt::format("no picture: gnuplot cannot be started: {}", gnuplot.problem);
  if (gnuplot.exit_code == 0) return {};
  return fmt::format("no picture: gnuplot {} in {} ended with {}:\n{}", name, folder,
                     gnuplot.exit_code, gnuplot.err);
}

}  // namespace espalier
