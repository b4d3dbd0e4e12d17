// A generated schedule as a collective program, so that both can be compared on the same NIs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "alg/program/compiler.h"
#include "alg/schedule/schedule.h"

namespace espalier {

struct ScheduleProgramOptions {
  Protocol protocol = Protocol::simple;
  std::uint32_t instances = 1;  // parallelize() over the whole program
  Bytes element_bytes = kDefaultElementBytes;
  // Trees cross at every rank. Each additional channel permits more fusion, with blocks of its own.
  CompileOptions compile{true, 0, 8};
};

// Exactly one of the two members is set.
struct ScheduleProgram {
  std::optional<Program> program;
  std::string reason;  // reason why the schedule cannot be expressed, as a sentence for the user
};

// The transfers in the order of their steps (a planned schedule's: in an order in which each finds
// its data), each as a copy or a reduction of its chunks, without
// routes and times of steps. Chunks must be equal up to one element of padding. Except in an
// all_reduce, every rank or pair of ranks must have the same number of chunks, which are then
// numbered by rank. all_reduce, reduce_scatter and all_gather are in place; an all_to_all forwards
// through scratch. Precondition: the schedule is certified.
[[nodiscard]] ScheduleProgram program_of_schedule(const Schedule& schedule,
                                                  const ScheduleProgramOptions& options = {});

}  // namespace espalier
