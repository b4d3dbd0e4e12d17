// What the results of all kinds of runs have in common (docs/results.md).
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "alg/certify/certifier.h"
#include "hw/topology/topology.h"
#include "sims/experiment/point_runner.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

// Cycles, flits, latencies, control messages, whether it is verified.
void describe_outcome(nlohmann::ordered_json& result, const RunPoint& point,
                      const SimulationOutcome& outcome);
// Which node each rank is.
void describe_rank_order(nlohmann::ordered_json& result, const RankOrderConfig& order);
// `links`: from, to and utilization of each, by LinkId, where the point asks for it.
void describe_links(nlohmann::ordered_json& result, const Topology& topology,
                    const SimulationOutcome& outcome);
void describe_control(nlohmann::ordered_json& result, const RunPoint& point,
                      const SimulationOutcome& outcome);
// What depends on the machine, for the member `host`.
[[nodiscard]] nlohmann::ordered_json host_figures(const SimulationOutcome& outcome,
                                                  std::chrono::steady_clock::time_point begin,
                                                  double simulated = 1);
// The end of every report of a simulation: void fields, `host`, the failure. `simulated`: the part
// of the flit hops that was simulated, where one NPU stands for all.
void finish(PointReport& report, const SimulationOutcome& outcome,
            std::chrono::steady_clock::time_point begin, double simulated = 1);
// The report of a point that cannot be simulated, and why.
[[nodiscard]] PointReport not_run(const std::string& why);
// The report of a point that is not simulated because the certifier rejects it.
[[nodiscard]] PointReport refused(PointReport report, const std::vector<Violation>& violations);
[[nodiscard]] PointReport refused(PointReport report, const std::string& why);

}  // namespace espalier
