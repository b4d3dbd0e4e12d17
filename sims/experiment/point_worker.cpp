#include "sims/experiment/point_worker.h"

#include <exception>
#include <new>

#include "sims/config/reader.h"
#include "sims/experiment/workers.h"

namespace espalier {

namespace {

PointReport simulate(const std::string& config, const std::string& folder) {
  PointReport report;
  const ConfigResult read = read_run_config_text("point", config, folder);
  if (!read.ok || read.points.size() != 1) {
    report.failure = read.diagnostics;
    return report;
  }
  SimulationHooks hooks;
  hooks.progress = write_worker_progress;
  try {
    return run_point(*read.topology, read.points.front(), std::nullopt, hooks);
  } catch (const std::bad_alloc&) {
    // From where no handler was asked first.
    report_out_of_memory();
  } catch (const std::exception& error) {
    report.failure = error.what();
  }
  return report;
}

}  // namespace

std::vector<std::string> worker_arguments(const nlohmann::ordered_json& config,
                                          const std::string& folder) {
  return {"worker", config.dump(), folder};
}

bool work_on_point(const std::string& config, const std::string& folder) {
  report_when_out_of_memory();
  const PointReport report = simulate(config, folder);
  write_worker_report(report);
  return report.failure.empty();
}

}  // namespace espalier
