// Whether a program ends with the slots that its connections have (GC3, section 6.1).
#pragma once

#include <cstdint>
#include <string>

#include "alg/program/program.h"

namespace espalier {

// Runs one tile without time: every block goes as far as messages, full slots, waits and calls let
// it. Where that ends depends on no order, and later tiles repeat it. Empty where all blocks end;
// else a sentence that names a connection that stands still. A step of `count` chunks takes
// count / chunks_per_slot slots, rounded up; chunks_per_slot 0: one. Precondition: every wait names
// a step of its rank, every peer is a rank.
[[nodiscard]] std::string unfinished_with(const Program& program, std::uint32_t slots,
                                          std::uint32_t chunks_per_slot);

}  // namespace espalier
