// Rules that join several keys, each reported where the reader of the file would look first.
#pragma once

#include <vector>

#include "hw/topology/topology.h"
#include "sims/config/given_keys.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Precondition: `points` is one file's cross product, not empty. A rule is skipped where a key it
// needs was given with an invalid value: that is reported already. `topology` is nullptr where it
// could not be built.
void check_points(const std::vector<RunPoint>& points, const Topology* topology,
                  const GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
