#pragma once

#include <string>
#include <vector>

namespace espalier {

struct AreaOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  std::vector<std::string> technologies;  // each in turn; empty: as configured
  std::vector<std::string> nodes;         // each in turn; empty: as configured
  bool synthesize = false;                // measure hw/rtl in place of the formulas
  std::string json;                       // file, or "-" for stdout; empty: none
  std::string csv;                        // file, or "-" for stdout; empty: none
};

// Returns an exit code.
[[nodiscard]] int area_command(const AreaOptions& options);

}  // namespace espalier
