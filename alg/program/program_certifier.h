// Proves a collective program before anything is simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/program/program.h"

namespace espalier {

enum class ProgramViolationKind : std::uint8_t {
  // A reference out of range, a wait for what does not signal, two owners of a connection's end, a
  // chunk count that does not fit the collective, ... : what makes no program.
  malformed,
  // Unequal numbers of sends and receives on a connection, or unequal counts of a pair.
  unmatched,
  // A cycle of program order, waits, messages and full slots.
  deadlock,
  // A read of a chunk that was never written.
  uninitialised,
  // Two conflicting accesses that nothing orders.
  race,
  // An output chunk does not hold what the collective promises.
  postcondition,
  // More contexts, instructions or slots than there are.
  capacity,
};
[[nodiscard]] const char* to_string(ProgramViolationKind kind);

struct ProgramViolation {
  ProgramViolationKind kind = ProgramViolationKind::malformed;
  // The place; -1 where it has none. Of a postcondition the gpu alone.
  std::int32_t gpu = -1;
  std::int32_t tb = -1;
  std::int32_t step = -1;
  std::uint32_t line = 0;  // in the program's file; 0: none
  std::string what;        // without the place; names the other places involved in the same form
};
// "gpu 1 tb 0 step 3 (line 17): ..."
[[nodiscard]] std::string describe(const ProgramViolation& violation);

struct ProgramLimits {
  std::uint32_t slots = 8;            // of a connection, >= 1
  std::uint32_t chunks_per_slot = 0;  // 0: any count travels in one slot
  std::uint32_t contexts = 0;         // of a rank, in one call; 0: as many as it needs
  std::uint32_t context_steps = 0;    // of a block; 0: as many as it needs
};

struct ProgramCertificate {
  // At most kListedPerKind of each kind, in a deterministic order; where there are more, one line
  // with their number follows.
  static constexpr std::size_t kListedPerKind = 8;
  std::vector<ProgramViolation> violations;
  // Of a program that is offered out of place too (Program::also_out_of_place): what is wrong with
  // it there. It is certified in place all the same.
  std::vector<ProgramViolation> out_of_place;
  // Smallest number of slots with which no deadlock is possible; 0 where none suffices.
  std::uint32_t least_slots = 0;
  std::uint32_t most_contexts = 0;  // of one rank
  std::uint32_t most_steps = 0;     // of one block
  std::size_t messages = 0;
  std::size_t connections = 0;
  // The root that was found, of broadcast and reduce.
  std::uint32_t root = 0;
  // custom, and the program does not say what it promises: nothing was proven of its results.
  bool promises_known = true;
  [[nodiscard]] bool ok() const { return violations.empty(); }
};

// What is built on sand is not judged: data are followed only where the program is well formed,
// matched, and ends.
[[nodiscard]] ProgramCertificate certify_program(const Program& program,
                                                 const ProgramLimits& limits = {});

}  // namespace espalier
