// Names of modules below the system's top module.
#pragma once

#include <string>

namespace espalier {

// "net.r_1_2.in_e": "r_1_2.in_e"
[[nodiscard]] inline std::string name_below_top(const std::string& path) {
  return path.substr(path.find('.') + 1);
}

}  // namespace espalier
