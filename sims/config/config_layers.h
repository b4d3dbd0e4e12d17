// Configurations in part, laid over each other: a figure's, a panel's, a series', a point's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// `upper` over `lower`: sections are joined key by key, every other value of `upper` replaces
// `lower`'s. Places stay those of the file that a value comes from.
[[nodiscard]] ConfigNode lay_over(const ConfigNode& lower, const ConfigNode& upper);

// What stands behind a `config` key: sections of keys in place, or the path of a configuration file
// relative to `folder`. Paths within such a file are rewritten as they look from `folder`. nullopt:
// errors were recorded.
[[nodiscard]] std::optional<ConfigNode> load_layer(const ConfigNode& node,
                                                   const std::filesystem::path& folder,
                                                   Diagnostics& diagnostics);

}  // namespace espalier
