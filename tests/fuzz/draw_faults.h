// Slow links, late NIs, skewed clocks and slow memories of a case.
#pragma once

#include "draw.h"
#include "fuzz_case.h"

namespace espalier::fuzz {

// System and workload are complete.
void draw_faults(Draw& draw, FuzzCase& fuzz_case);

}  // namespace espalier::fuzz
