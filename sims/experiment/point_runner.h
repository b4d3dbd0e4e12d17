// One point from configuration to result: generate, certify, bound, simulate, verify.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

class RunAccount;

struct PointReport {
  nlohmann::ordered_json result;  // as documented in docs/results.md
  std::string failure;            // why `verified` is false; empty if it is true
};

// `tables`: of a schedule file; generated where it is empty. Simulates, so: once per process. A
// system that cannot be built is a failure, in the report. `account`: whose recorder is among the
// hooks' observers: the result says where the time went.
[[nodiscard]] PointReport run_point(const Topology& topology, const RunPoint& point,
                                    const std::optional<ScheduleTables>& tables,
                                    const SimulationHooks& hooks, RunAccount* account = nullptr);

// The report of a point that cannot be simulated, and why.
[[nodiscard]] PointReport not_run(const std::string& why);

}  // namespace espalier
