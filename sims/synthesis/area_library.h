// A Liberty file of areas alone.
#pragma once

#include <string>

namespace espalier {

// Twelve combinational cells and a flip-flop with the areas that Nangate45's LEF states
// (FreePDK45). Nothing else of that library: no timing, no power.
[[nodiscard]] std::string area_library();

}  // namespace espalier
