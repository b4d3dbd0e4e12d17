#include "sims/cli/run_observers.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sims/cli/timeline_option.h"
#include "sims/cli/wave_options.h"

namespace espalier {

namespace {

// What a run is instead of a schedule's, which an account follows; empty of a schedule's.
std::string what_has_no_account(const Input& input, const RunPoint& point) {
  if (point.traffic) return "traffic";
  if (point.workload) return "a workload";
  if (point.coordination) return "a coordinated job";
  return point.collective || input.tables ? "" : "control messages alone";
}

// Only of messages in the network is there a list.
std::string message_list_mistake(const RunOptions& options, const std::vector<Input>& inputs) {
  if (options.messages.empty()) return {};
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      if (!point.coordination || is_on_network(point.coordination->control_plane,
                                               input.topology->num_nodes(), kMostControlRanks)) {
        continue;
      }
      return fmt::format(
          "{}: error: --messages: in closed form there are no messages to list; "
          "-s coordination.control_plane=network simulates them",
          input.path);
    }
  }
  return {};
}

// Two outputs with one name, or an input's; empty where there are none.
std::string clash(const RunOptions& options) {
  std::vector<std::pair<std::string, std::string>> files;  // what for, name
  for (const std::string& config : options.configs) files.emplace_back("configuration", config);
  const std::pair<const char*, const std::string*> outputs[] = {{"--json", &options.json},
                                                                {"--csv", &options.csv},
                                                                {"--messages", &options.messages},
                                                                {"--waves", &options.waves.file},
                                                                {"--timeline", &options.timeline}};
  for (const auto& [what, name] : outputs) {
    if (name->empty() || *name == "-") continue;
    for (const auto& [other, used] : files) {
      if (std::filesystem::weakly_canonical(used) != std::filesystem::weakly_canonical(*name)) {
        continue;
      }
      return fmt::format("{} {}: this is the {} file too", what, *name, other);
    }
    files.emplace_back(what, *name);
  }
  return {};
}

}  // namespace

std::string observer_mistake(const RunOptions& options, const std::vector<Input>& inputs) {
  std::vector<const RunPoint*> points;
  std::string no_account;
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      points.push_back(&point);
      const std::string what = what_has_no_account(input, point);
      if (what.empty() || !no_account.empty()) continue;
      no_account =
          fmt::format("{}: error: there is no account of {}: it follows a collective's schedule",
                      input.path, what);
    }
  }
  for (const std::string& mistake :
       {clash(options), message_list_mistake(options, inputs), wave_mistake(options.waves, points),
        timeline_mistake(options.timeline, points)}) {
    if (!mistake.empty()) return mistake;
  }
  return options.explain ? no_account : "";
}

RunObservers::RunObservers(const RunOptions& options, const Input& input, const RunPoint& point)
    : explains_(options.explain) {
  if (!options.waves.file.empty()) waves_ = wave_session(options.waves, point);
  if (!options.timeline.empty()) timeline_ = timeline_session(options.timeline, point);
  // A save file of everything shows the channels of the critical path first; a window costs as
  // little as what is in it.
  const WaveOptions& waves = options.waves;
  const bool shows_all = waves.scopes.empty() && waves.from.empty() && waves.to.empty();
  const bool orders_waves = waves_ && shows_all && what_has_no_account(input, point).empty();
  if (explains_ || orders_waves) account_.emplace();
}

void RunObservers::watch(SimulationHooks& hooks) {
  if (waves_) hooks.observers.push_back(waves_.get());
  if (timeline_) hooks.observers.push_back(timeline_.get());
  if (account_) hooks.observers.push_back(&account_->recorder());
}

void RunObservers::finish(PointReport& report) {
  // A run that did not end has no critical path, and its save file stays as it is.
  if (waves_ && account_ && !account_->critical_channels().empty()) {
    waves_->show_first(account_->critical_channels());
  }
  if (!explains_) report.result.erase("explanation");
}

}  // namespace espalier
