// What a case sends: listed messages, a traffic pattern, or a certified collective.
#pragma once

#include "draw.h"
#include "fuzz_case.h"

namespace espalier::fuzz {

// The system is complete.
void draw_workload(Draw& draw, FuzzCase& fuzz_case);

}  // namespace espalier::fuzz
