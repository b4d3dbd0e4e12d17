// Named systems. A preset supplies settings that a file leaves out; settings in the file win.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier {

struct Preset {
  std::string name;
  std::string description;
  // Dotted keys and values as in a file. Other keys have the default of the schema.
  std::vector<std::pair<std::string, std::string>> settings;
};

inline constexpr const char* kDefaultPreset = "default";

// In the order in which users see them.
[[nodiscard]] const std::vector<Preset>& presets();
// The presets of GPU systems that others have measured (docs/silicon.md; gpu_presets.cpp).
[[nodiscard]] std::vector<Preset> gpu_presets();
// Returns nullptr if no preset has that name.
[[nodiscard]] const Preset* find_preset(const std::string& name);

}  // namespace espalier
