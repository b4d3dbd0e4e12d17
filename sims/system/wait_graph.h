// Turns what stuck modules say into the answer to "who waits for whom".
#pragma once

#include <string>

#include "flowctl/wait_list.h"

namespace espalier {

// One line per wait of the first cycle found ("a waits for b: why"), or, where the waits form no
// cycle, of the chain that ends at something that will never move. `most` limits the lines.
[[nodiscard]] std::string describe_waits(const WaitList& waits, std::size_t most = 24);

}  // namespace espalier
