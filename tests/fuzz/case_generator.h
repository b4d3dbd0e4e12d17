// Random systems and workloads in which the two fidelities could differ: small, contended, with
// tight buffers and fractional rates.
#pragma once

#include <cstdint>

#include "fuzz_case.h"

namespace espalier::fuzz {

// Case `number` of `seed`; the same on every machine.
[[nodiscard]] FuzzCase draw_case(std::uint64_t seed, std::uint64_t number);

}  // namespace espalier::fuzz
