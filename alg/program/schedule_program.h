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
  // Trees cross at every rank in all ways, and each channel more lets more of that be fused, on
  // blocks of its own.
  CompileOptions compile{true, 0, 8};
};

// Exactly one of the two.
struct ScheduleProgram {
  std::optional<Program> program;
  std::string reason;  // why it cannot be expressed, as a sentence for the user
};

// Transfers in the order of their steps, each a copy or a reduction of its chunks; routes and the
// times of steps are not kept. Chunks must be equal up to one element (padding), and in all but an
// all_reduce every rank (or pair of ranks) must have as many: they are then numbered by rank, as
// programs have them. all_reduce, reduce_scatter, all_gather are in place; an all_to_all keeps what
// it forwards in scratch. Precondition: the schedule is certified.
[[nodiscard]] ScheduleProgram program_of_schedule(const Schedule& schedule,
                                                  const ScheduleProgramOptions& options = {});

}  // namespace espalier
