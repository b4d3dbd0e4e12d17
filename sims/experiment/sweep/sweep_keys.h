// Dotted names of configuration keys in a sweep file, and settings in a tree of sections.
#pragma once

#include <string>

#include "sims/config/keys.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Records an error that starts with `what` where no key has that name; nullptr then.
[[nodiscard]] const Key* key_named(const std::string& name, const Place& place,
                                   const std::string& what, Diagnostics& diagnostics);

// Makes the sections that are missing; what stands there is replaced.
void set_key(ConfigNode& root, const std::string& name, const ConfigNode& value);

// nullptr where the tree does not give the key.
[[nodiscard]] const ConfigNode* find_setting(const ConfigNode& root, const std::string& name);

}  // namespace espalier
