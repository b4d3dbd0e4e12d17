// The Verilog sources of hw/rtl, built into the program.
#pragma once

#include "hw/cost/cost_spec.h"

namespace espalier {

struct RtlSource {
  const char* name;  // of the module
  const char* text;
};
[[nodiscard]] RtlSource rtl_source(RtlModule module);

}  // namespace espalier
