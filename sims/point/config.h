// The contents of a configuration file as plain structs in model units, a header for each section.
// Only the reader knows YAML. A file that needs one section includes only the header of that
// section, and is not compiled again when another section changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sims/point/collective_config.h"
#include "sims/point/coordination_config.h"
#include "sims/point/faults_config.h"
#include "sims/point/reorder_config.h"
#include "sims/point/simulation_config.h"
#include "sims/point/system_config.h"
#include "sims/point/traffic_config.h"
#include "sims/point/training_config.h"

namespace espalier {

// One point of the cross product of the file's lists.
struct RunPoint {
  SystemConfig system;
  // Exactly one of the two is set, or only control messages are.
  std::optional<CollectiveConfig> collective;
  std::optional<TrafficConfig> traffic;
  std::optional<TrainingConfig> training;  // only with a collective
  // Only with a collective, and not with training.
  std::optional<WorkloadConfig> workload;
  std::optional<CoordinationConfig> coordination;  // only with training
  std::optional<ControlConfig> control;            // never with traffic
  // Only on a network with racks, and never with traffic or control.
  std::optional<TenantsConfig> tenants;
  FaultsConfig faults;
  SimulationConfig simulation;
  ReorderConfig reorder;
  // FNV-1a of the text of each file that the point was read from, by the path that was opened.
  std::map<std::string, std::uint64_t> file_hashes;
};

}  // namespace espalier
