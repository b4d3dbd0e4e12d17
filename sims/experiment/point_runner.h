// One point from configuration to result: generate, certify, bound, simulate, verify.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "alg/schedule/schedule_table.h"
#include "flowctl/train/packet_stops.h"
#include "hw/topology/topology.h"
#include "sims/model/system_shape.h"
#include "sims/system/simulation.h"

namespace espalier {

class RunAccount;
struct RunPoint;

struct PointReport {
  nlohmann::ordered_json result;  // as documented in docs/results.md
  std::string note;               // what made the simulation slow; empty if nothing did
  std::string failure;            // why `verified` is false; empty if it is true
  bool unsuited = false;          // the failure: the algorithm does not suit the system
};

// `tables`: the tables of a schedule file; if empty, the point's generator makes them. May run once
// per process, because SystemC elaborates once. If the system cannot be built, the report has the
// failure. `account`: if given, its recorder is among the observers of `hooks`, and the result has
// an explanation of the time. `choices`: the folder in which processes share what auto has decided
// (sims/choose/choices.h); empty: none.
[[nodiscard]] PointReport run_point(const Topology& topology, const RunPoint& point,
                                    const std::optional<ScheduleTables>& tables,
                                    const SimulationHooks& hooks, RunAccount* account = nullptr,
                                    const std::string& choices = {});

// What is known of a run of one collective before it is simulated: its description; and, unless
// `tables` are given, `planned_ns`, `least_ns` and `is_proven_slowly` (sims/choose/choose.h). The
// report of another run is empty.
[[nodiscard]] PointReport plan_run(const Topology& topology, const RunPoint& point,
                                   const std::optional<ScheduleTables>& tables);

// Whether a run of the point has a schedule or a program that says how large the tables of NIs are.
[[nodiscard]] bool has_tables(const Topology& topology, const RunPoint& point);
// What the system needs for a run of the point, which is what the run's area is for. auto may
// simulate candidates.
[[nodiscard]] RunNeed run_need(const Topology& topology, const RunPoint& point,
                               const std::optional<ScheduleTables>& tables);

// The report of a point that cannot be simulated for the reason `why`.
[[nodiscard]] PointReport not_run(const std::string& why);

// The note of a report: the settings after which packet trains stopped most often, with the share
// of packets after which they did. Empty if the simulation took no more than a second of CPU time,
// if the share is small, or if no setting is known to cause it.
[[nodiscard]] std::string slow_note(const Topology& topology, const RunPoint& point,
                                    const PacketStops& stops, double engine_seconds);

}  // namespace espalier
