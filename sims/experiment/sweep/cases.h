// Named partial configurations along an axis: the networks, designs or series that a sweep
// compares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sims/experiment/sweep/sweep.h"
#include "sims/text/diagnostics.h"
#include "sims/text/strict_map.h"

namespace espalier {

// Reads `name` and `cases` of an axis. A case takes one position, or one for each combination of
// the values that it lists; the last key of the registry varies fastest. `override_keys` sets what
// the command line sets. The result is empty if errors were recorded.
[[nodiscard]] std::vector<SweepCase> read_cases(
    const StrictMap& axis, const std::string& folder, Diagnostics& diagnostics,
    const std::function<void(ConfigNode&)>& override_keys);

// True if the node is several values of the key. For a key whose value is a list, that is a list of
// lists.
[[nodiscard]] bool lists_values(const Key& key, const ConfigNode& node);

}  // namespace espalier
