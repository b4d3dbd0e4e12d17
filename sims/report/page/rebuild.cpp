#include "sims/report/page/rebuild.h"

#include <exception>
#include <utility>

#include "alg/certify/certifier.h"
#include "alg/plans/planner.h"
#include "alg/schedule/schedule_table.h"
#include "sims/config/reader.h"
#include "sims/config/resolved.h"
#include "sims/experiment/point_runner.h"
#include "sims/report/page/config_differences.h"

namespace espalier::report {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::optional<RebuiltSystem> rebuild_system(const ReportData& data, const ReportPoint& point,
                                            std::string& why) {
  if (!point.config_is_complete) {
    why = "its file does not have its configuration";
    return std::nullopt;
  }
  // JSON is YAML: it is read like any configuration.
  ConfigResult config =
      read_run_config_text("configuration", nest_config(point.config).dump(),
                           data.sources[point.source].folder, {}, ConfigNeed::workload);
  if (!config.ok || config.points.size() != 1) {
    why = config.ok ? "its configuration has several points" : first_line(config.diagnostics);
    return std::nullopt;
  }
  return RebuiltSystem{std::move(config.points.front()), config.topology};
}

std::optional<Schedule> rebuild_schedule(const RebuiltSystem& system, std::string& why) {
  const CollectiveConfig& collective = *system.point.collective;
  if (find_planner(collective.algorithm) != nullptr) {
    why = "it plans chunks over dimensions and has no schedule of timesteps";
    return std::nullopt;
  }
  try {
    return raise_from_tables(
        *system.topology,
        expand_symmetry(*system.topology, generate_tables(*system.topology, collective)));
  } catch (const std::exception& error) {
    why = first_line(error.what());
    return std::nullopt;
  }
}

}  // namespace espalier::report
