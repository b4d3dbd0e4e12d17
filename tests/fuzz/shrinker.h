// Makes a failing case small.
#pragma once

#include <cstddef>
#include <functional>

#include "fuzz_case.h"

namespace espalier::fuzz {

// Whether a case still fails. Cases that cannot be run do not.
using StillFails = std::function<bool(const FuzzCase&)>;

// Removes messages, nodes, links and settings as long as the case still fails, with at most
// `most_tries` questions. Precondition: it does fail.
[[nodiscard]] FuzzCase shrink(FuzzCase fuzz_case, const StillFails& still_fails,
                              std::size_t most_tries);

}  // namespace espalier::fuzz
