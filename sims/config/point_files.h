// What the files say that run points name: messages, rank orders, layers, programs.
#pragma once

#include <vector>

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Each file is read once. `topology` is that of all points; nullptr where it could not be built:
// what depends on it is left out.
void read_point_files(std::vector<RunPoint>& points, const Topology* topology,
                      const GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
