// One point from configuration to result: generate, certify, bound, simulate, verify.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "alg/certify/certifier.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

class RunAccount;

// The tables of the point's algorithm. Precondition: the algorithm fits the topology (the reader
// checked it).
[[nodiscard]] ScheduleTables generate_tables(const Topology& topology,
                                             const CollectiveConfig& collective);

[[nodiscard]] Certificate certify_point(const Topology& topology, const RunPoint& point,
                                        const ScheduleTables& tables);

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

}  // namespace espalier
