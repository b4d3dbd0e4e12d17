// Dotted names of configuration keys in a sweep file, and access to settings in a tree of sections.
#pragma once

#include <string>

#include "sims/config/keys.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Finds the key with this name. If there is none, records an error that starts with `what` and
// returns nullptr.
[[nodiscard]] const Key* key_named(const std::string& name, const Place& place,
                                   const std::string& what, Diagnostics& diagnostics);

// Creates missing sections and replaces an existing value.
void set_key(ConfigNode& root, const std::string& name, const ConfigNode& value);

// Returns nullptr if the tree does not set the key.
[[nodiscard]] const ConfigNode* find_setting(const ConfigNode& root, const std::string& name);

}  // namespace espalier
