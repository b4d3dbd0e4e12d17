#include "sims/report/figure/gnuplot.h"

#include <fmt/format.h>

#include <boost/process.hpp>

namespace espalier {

std::string run_gnuplot(const std::filesystem::path& script) {
  namespace bp = boost::process;
  const boost::filesystem::path program = bp::search_path("gnuplot");
  const std::string name = script.filename().string();
  const std::string folder =
      script.has_parent_path() ? script.parent_path().string() : std::string(".");
  if (program.empty()) {
    return fmt::format(
        "no picture: gnuplot is not installed (Debian: apt-get install gnuplot-nox); then: "
        "cd {} && gnuplot {}",
        folder, name);
  }
  bp::ipstream messages;
  std::error_code error;
  bp::child gnuplot(program, bp::args({name}), bp::start_dir(folder),
                    bp::std_in<bp::null, bp::std_out> bp::null, bp::std_err > messages, error);
  if (error) return fmt::format("no picture: gnuplot cannot be started: {}", error.message());
  const std::string said{std::istreambuf_iterator<char>(messages), {}};
  gnuplot.wait(error);
  if (gnuplot.exit_code() == 0) return {};
  return fmt::format("no picture: gnuplot {} in {} ended with {}:\n{}", name, folder,
                     gnuplot.exit_code(), said);
}

}  // namespace espalier
