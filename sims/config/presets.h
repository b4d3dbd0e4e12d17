// Named systems: what a preset says, a file may leave out; what the file says wins.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier {

struct Preset {
  std::string name;
  std::string description;
  // Dotted key and value as in a file. Keys that are not here keep the default of the schema.
  std::vector<std::pair<std::string, std::string>> settings;
};

inline constexpr const char* kDefaultPreset = "default";

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Preset>& presets();
// nullptr where no preset has that name.
[[nodiscard]] const Preset* find_preset(const std::string& name);

}  // namespace espalier
