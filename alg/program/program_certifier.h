// Proves properties of a collective program before a simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/program/program.h"

namespace espalier {

enum class ProgramViolationKind : std::uint8_t {
  // The program has no meaning: a reference out of range, a wait for a step that does not signal,
  // two owners of a connection's end, or a chunk count that does not fit the collective.
  malformed,
  // Unequal numbers of sends and receives on a connection, or unequal counts of a pair.
  unmatched,
  // A cycle of program order, waits, messages and full slots.
  deadlock,
  // A chunk is read that was never written.
  uninitialised,
  // Two conflicting accesses are not ordered.
  race,
  // An output chunk does not have the value that the collective promises.
  postcondition,
  // The program needs more contexts, instructions or slots than are available.
  capacity,
};
[[nodiscard]] const char* to_string(ProgramViolationKind kind);

struct ProgramViolation {
  ProgramViolationKind kind = ProgramViolationKind::malformed;
  // The place; -1: none. A postcondition has only a gpu.
  std::int32_t gpu = -1;
  std::int32_t tb = -1;
  std::int32_t step = -1;
  std::uint32_t line = 0;  // in the program's file; 0: none
  std::string what;        // without the place; names other places in the same form
};
// "gpu 1 tb 0 step 3 (line 17): ..."
[[nodiscard]] std::string describe(const ProgramViolation& violation);

struct ProgramLimits {
  std::uint32_t slots = 8;            // of a connection, >= 1
  std::uint32_t chunks_per_slot = 0;  // 0: any count travels in one slot
  std::uint32_t contexts = 0;         // of a rank, in one call; 0: unlimited
  std::uint32_t context_steps = 0;    // of a block; 0: unlimited
  bool form_only = false;             // proves only what a simulation needs
};

struct ProgramCertificate {
  // At most kListedPerKind of each kind, in a deterministic order; a final line states the number
  // of the others.
  static constexpr std::size_t kListedPerKind = 8;
  std::vector<ProgramViolation> violations;
  // With Program::also_out_of_place: violations out of place. They do not count for ok().
  std::vector<ProgramViolation> out_of_place;
  // The smallest number of slots without a deadlock; 0: every number of slots has a deadlock.
  std::uint32_t least_slots = 0;
  std::uint32_t most_contexts = 0;  // of one rank
  std::uint32_t most_steps = 0;     // of one block
  std::size_t messages = 0;
  std::size_t connections = 0;
  std::uint32_t root = 0;  // broadcast, reduce: the root that was found
  // False for a custom collective without promises: nothing is proven about its results.
  bool promises_known = true;
  [[nodiscard]] bool ok() const { return violations.empty(); }
};

// Each proof needs the previous ones: data are followed only if the program is well formed,
// matched, and ends.
[[nodiscard]] ProgramCertificate certify_program(const Program& program,
                                                 const ProgramLimits& limits = {});

// Whether every block ends with so many slots of a connection, each for at most `chunks_per_slot`
// chunks (0: any count). Precondition: the program is well formed.
[[nodiscard]] bool ends_with_slots(const Program& program, std::uint32_t slots,
                                   std::uint32_t chunks_per_slot);

}  // namespace espalier
