// Fields of results that several kinds of runs have (docs/results.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hw/topology/topology.h"
#include "sims/point/collective_config.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunBound;
struct RunPoint;

// Cycles, flits, latencies, control messages, tenants, and the verdict.
void describe_simulation(nlohmann::ordered_json& result, const RunPoint& point,
                         const SimulationOutcome& outcome);
// The node of each rank.
void describe_rank_order(nlohmann::ordered_json& result, const RankOrderConfig& order);
// `links`: from, to and utilization of each link, by LinkId, if the point asks for it.
void describe_links(nlohmann::ordered_json& result, const Topology& topology,
                    const SimulationOutcome& outcome);
// `control`, if the run has control messages.
void describe_control(nlohmann::ordered_json& result, const RunPoint& point,
                      const SimulationOutcome& outcome);
// The bound, with what proves it. `time_ns`: of the run; 0 if it did not end.
void describe_bound(nlohmann::ordered_json& result, const Topology& topology, const RunBound& bound,
                    double time_ns);
// `verified`, and why not.
void describe_verdict(nlohmann::ordered_json& result, const SimulationOutcome& outcome);

}  // namespace espalier
