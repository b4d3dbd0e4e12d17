#pragma once

#include <string>
#include <vector>

namespace espalier {

struct ReportOptions {
  std::vector<std::string> results;
  std::string output;  // file, or "-" for stdout
  std::string title;
};

// Returns an exit code. Points that failed or are missing are shown, and no reason for a bad one.
[[nodiscard]] int report_command(const ReportOptions& options);

}  // namespace espalier
