// Tests that need Verilog models.
#pragma once

#include <fmt/format.h>

#include "ni/rtl/rtl_sequencer.h"

namespace espalier::test {

// True where the test has to be left out; ctest reads the word.
inline bool is_without_rtl() {
  if (!has_rtl()) fmt::print("skipped: built without verilator\n");
  return !has_rtl();
}

}  // namespace espalier::test
