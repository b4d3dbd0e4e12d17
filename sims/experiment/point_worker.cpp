#include "sims/experiment/point_worker.h"

#include <exception>
#include <new>

#include "sims/config/reader.h"
#include "sims/experiment/workers.h"

namespace espalier {

namespace {

PointReport simulate(const std::string& config, const std::string& folder,
                     const std::vector<std::string>& files) {
  PointReport report;
  const ConfigResult read = read_run_config_text("point", config, folder);
  if (const std::string changed = changed_file(files, read.file_hashes); !changed.empty()) {
    report.failure = changed_file_error(changed);
    return report;
  }
  if (!read.ok || read.points.size() != 1) {
    report.failure = read.diagnostics;
    return report;
  }
  SimulationHooks hooks;
  hooks.progress = write_worker_progress;
  try {
    return run_point(*read.topology, read.points.front(), std::nullopt, hooks);
  } catch (const std::bad_alloc&) {
    // Memory ran out in code that did not ask the handler first.
    report_out_of_memory();
  } catch (const std::exception& error) {
    report.failure = error.what();
  }
  return report;
}

}  // namespace

std::vector<std::string> worker_arguments(const nlohmann::ordered_json& config,
                                          const std::string& folder, const FileHashes& files) {
  std::vector<std::string> arguments{"worker", config.dump(), folder};
  for (std::string& file : to_words(files)) arguments.push_back(std::move(file));
  return arguments;
}

bool work_on_point(const std::vector<std::string>& arguments) {
  report_when_out_of_memory();
  const PointReport report =
      simulate(arguments.at(0), arguments.at(1), {arguments.begin() + 2, arguments.end()});
  write_worker_report(report);
  return report.failure.empty();
}

}  // namespace espalier
