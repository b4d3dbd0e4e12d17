#include "sims/cli/timeline_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace espalier {

void add_timeline_option(CLI::App& app, std::string& file) {
  app.add_option(
         "--timeline", file,
         "write what NIs and links did over time to this file, as JSON for Perfetto; of the "
         "whole run, whatever --wave-from and --wave-to say; about 1 KB a message")
      ->type_name("FILE");
}

std::string timeline_mistake(const std::string& file, const std::vector<const RunPoint*>& points) {
  if (file.empty()) return {};
  if (file == "-") return "--timeline -: a timeline goes to a file";
  if (points.size() != 1) {
    return fmt::format(
        "--timeline shows one run, and this would be {}; -s picks one, as -s "
        "collective.algorithm=multitree",
        points.size());
  }
  if (points.front()->coordination) {
    return "--timeline shows one collective; a coordinated job posts many while it runs";
  }
  if (points.front()->workload) {
    return "--timeline shows one collective; a workload simulates one after the other, each by "
           "itself";
  }
  return {};
}

std::unique_ptr<TimelineSession> timeline_session(const std::string& file, const RunPoint& point) {
  return std::make_unique<TimelineSession>(file, point.system.clock.hertz);
}

}  // namespace espalier
