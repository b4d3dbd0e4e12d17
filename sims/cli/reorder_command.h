// `espalier reorder`: which node should be which rank.
#pragma once

#include <string>
#include <vector>

namespace espalier {

struct ReorderOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string latency;  // a file of measured latencies; empty: probes
  std::string write_latency;
  std::string output;  // the mapping; empty: none
  std::string json;    // empty: none
  std::size_t spread = 0;
};

// Returns the exit code.
[[nodiscard]] int reorder_command(const ReorderOptions& options);

}  // namespace espalier
