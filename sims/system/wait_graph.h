// Explains a standstill: which module waits for which other module.
#pragma once

#include <string>

#include "flowctl/wait_list.h"

namespace espalier {

// One line for each wait of the first cycle found ("a waits for b: why"). Without a cycle, the
// lines show the longest chain of waits. `most` limits the number of lines.
[[nodiscard]] std::string describe_waits(const WaitList& waits, std::size_t most = 24);

}  // namespace espalier
