#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sims/cli/wave_options.h"

namespace espalier {

struct RunOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  std::string json;      // file, or "-" for stdout; empty: none
  std::string csv;       // file, or "-" for stdout; empty: none
  std::string messages;  // file for one line per message, a worker's without header; empty: none
  WaveOptions waves;
  std::string timeline;  // file; empty: none
  bool explain = false;  // say where the time went
  std::optional<std::size_t>
      point;  // worker mode: this point alone, talking JSON lines (sims/experiment/workers.h)
  std::vector<std::string>
      files_read;       // worker mode: what the parent read (sims/text/file_hashes.h)
  unsigned jobs = 0;    // processes at once; 0: one per core
  std::string program;  // this executable, for workers
};

// Returns an exit code.
[[nodiscard]] int run_command(const RunOptions& options);

}  // namespace espalier
