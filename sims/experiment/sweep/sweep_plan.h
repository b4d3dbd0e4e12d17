// The points of a sweep, each complete and checked.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/experiment/sweep/sweep.h"
#include "sims/text/diagnostics.h"
#include "sims/text/file_hashes.h"

namespace espalier {

struct SweepPoint {
  std::string id;  // of its content: the same in every sweep that has the point
  nlohmann::ordered_json
      set;  // by axis key, as written; without keys whose axis does not vary here
  std::string config_hash;
  nlohmann::ordered_json
      config;        // resolved, its fidelity decided; paths start in the sweep file's folder
  FileHashes files;  // what the point was read from
};

struct SweepPlan {
  std::vector<SweepPoint> points;  // no two of them with one id
  std::size_t combinations = 0;    // of the axes' values
  std::size_t excluded = 0;        // of these, by `only` and `except`
  std::size_t alike = 0;           // the same simulation as an earlier one
  std::size_t invalid = 0;         // refused by the configuration's reader
};

// Records what the reader says of each point, with the point's values; the plan of a sweep with
// errors is of no use.
[[nodiscard]] SweepPlan plan_sweep(const Sweep& sweep, Diagnostics& diagnostics);

// "collective.size=1MiB system.router.vcs=4"
[[nodiscard]] std::string set_text(const nlohmann::ordered_json& set);

inline constexpr std::size_t kMostCombinations = 1'000'000;

}  // namespace espalier
