#pragma once

#include <string>
#include <vector>

namespace espalier {

struct ScheduleOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string format = "table";
  std::string output;  // empty: stdout
};

[[nodiscard]] int schedule_command(const ScheduleOptions& options);

}  // namespace espalier
