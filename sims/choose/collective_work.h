// What the NIs execute for a collective: schedule tables, a program, or a plan of dimensions.
#pragma once

#include <optional>
#include <string>

#include "alg/plans/planner.h"
#include "alg/program/builtin_programs.h"
#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/system/simulation.h"

namespace espalier {

// One of tables, program and plan.
struct CollectiveWork {
  std::optional<ScheduleTables> tables = {};
  std::optional<Program> program = {};
  std::optional<ForecastPlan> plan = {};
  // If `auto` chose a program: a sentence with its name and the times that were compared. Tables
  // and plans know theirs.
  std::string choice = {};
  // The program's, if it is built-in; nullptr if it is from a file.
  const BuiltinProgram* built_in = nullptr;
  // If the choice has needed it.
  std::optional<ProgramCertificate> certificate = {};
};

[[nodiscard]] SimulationOutcome simulate_work(const Topology& topology, const RunPoint& point,
                                              const CollectiveWork& work,
                                              const SimulationHooks& hooks);

}  // namespace espalier
