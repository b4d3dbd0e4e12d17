// `when`, `only` and `except` of a sweep: at which points something is so.
#pragma once

#include <string>

#include "sims/experiment/sweep/sweep.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// A mapping of keys to what they must be, all of it, or a list of such mappings, any of them. A
// value stands for itself, a list for any of its values; ">= 64", "!= ring", "< KEY" compare.
// `name`: of the condition, for messages. Records errors.
[[nodiscard]] Condition read_condition(const ConfigNode& node, const std::string& name,
                                       Diagnostics& diagnostics);

// What is said of a key that means nothing at the point does not hold.
[[nodiscard]] bool holds(const Condition& condition, const RunPoint& point);

}  // namespace espalier
