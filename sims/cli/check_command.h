#pragma once

#include <string>
#include <vector>

namespace espalier {

struct CheckOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
};

[[nodiscard]] int check_command(const CheckOptions& options);

}  // namespace espalier
