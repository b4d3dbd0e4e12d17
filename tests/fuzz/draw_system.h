// Network, links, routers and network interfaces of a case.
#pragma once

#include "draw.h"
#include "fuzz_case.h"

namespace espalier::fuzz {

void draw_system(Draw& draw, FuzzCase& fuzz_case);

}  // namespace espalier::fuzz
