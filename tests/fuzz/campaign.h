// Many cases, in several processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "comparison.h"

namespace espalier::fuzz {

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t cases = 1000;
  double minutes = 0;  // stop then, whatever is left; 0: never
  unsigned jobs = 1;
  std::uint64_t failures = 1;  // stop after so many
  std::size_t shrink_tries = 2000;
  std::filesystem::path out;  // a folder for each failing case is made here
  Variants variants;
};

// Runs the cases, shrinks and reports those that fail on stdout; progress on a terminal. True if
// none did.
[[nodiscard]] bool run_campaign(const CampaignOptions& options);

}  // namespace espalier::fuzz
