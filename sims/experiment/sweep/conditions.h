// `when`, `only` and `except` of a sweep: conditions that select points.
#pragma once

#include <string>

#include "sims/experiment/sweep/sweep.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// A condition is a mapping from keys to values, all of which must hold, or a list of such mappings,
// one of which must hold. A value must be equal; of a list, one value must be equal; ">= 64", "!=
// ring" and "< KEY" compare. `name` is the condition's name for messages. Records errors.
[[nodiscard]] Condition read_condition(const ConfigNode& node, const std::string& name,
                                       Diagnostics& diagnostics);

// A comparison of a key that has no meaning at the point does not hold.
[[nodiscard]] bool holds(const Condition& condition, const RunPoint& point);

}  // namespace espalier
