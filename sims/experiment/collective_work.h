// What the NIs execute for a collective: schedule tables, or a program.
#pragma once

#include <optional>
#include <string>

#include "alg/program/builtin_programs.h"
#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/experiment/choices.h"

namespace espalier {

struct RunPoint;

// Either tables or a program.
struct CollectiveWork {
  std::optional<ScheduleTables> tables;
  std::optional<Program> program;
  // If `auto` chose a program: a sentence with its name and the times that were compared.
  // Tables know theirs (ScheduleTables::choice).
  std::string choice = {};
  // The program's, if it is built-in; nullptr if it is from a file.
  const BuiltinProgram* built_in = nullptr;
  // If the choice has needed it.
  std::optional<ProgramCertificate> certificate = {};
};

// Makes the work of the point's algorithm. Precondition: the algorithm is no planner and fits the
// topology (the reader checked it).
//
// `algorithm: auto` takes the fastest schedule, as generate_tables() does, or a built-in program
// that is faster. The programs are ranked by planned time (alg/program/program_time.h); the best
// two that may be faster than the schedule are simulated on the healthy system, alone and in child
// processes. So call it before this process simulates.
[[nodiscard]] CollectiveWork generate_collective(const Topology& topology, const RunPoint& point,
                                                 const Choices& choices = Choices());

}  // namespace espalier
