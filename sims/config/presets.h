// Named systems. A preset supplies settings that a file leaves out; settings in the file win.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sims/text/config_node.h"

namespace espalier {

struct Preset {
  std::string name;
  std::string description;
  std::map<std::string, ConfigNode> settings;  // by dotted key
};

// The presets of presets.yaml, in its order.
[[nodiscard]] const std::vector<Preset>& presets();

[[nodiscard]] std::string_view presets_file();  // presets.yaml

}  // namespace espalier
