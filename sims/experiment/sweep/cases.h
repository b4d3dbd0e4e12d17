// Named partial configurations along an axis: the networks, designs or series that a sweep
// compares.
#pragma once

#include <string>
#include <vector>

#include "sims/experiment/sweep/sweep.h"

namespace espalier {

// The positions that a case takes on axis `name`: one, or one for each combination of the values
// that `config` lists. The last key of the registry varies fastest.
[[nodiscard]] std::vector<SweepCase> expand_case(const std::string& name, const std::string& label,
                                                 const ConfigNode& config);

// True if the node is several values of the key. For a key whose value is a list, that is a list of
// lists.
[[nodiscard]] bool lists_values(const Key& key, const ConfigNode& node);

}  // namespace espalier
