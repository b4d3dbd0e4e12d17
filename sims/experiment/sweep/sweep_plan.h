// The points of a sweep. Each is a complete and checked configuration.
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
  std::string id;  // derived from the content, so the same point has the same id in every sweep
  // By axis key, as written; without keys whose axis does not vary here.
  nlohmann::ordered_json set;
  std::vector<nlohmann::ordered_json> alike;  // further values of the axes that give this point
  std::string config_hash;
  // Resolved, its fidelity decided; paths start in the sweep file's folder.
  nlohmann::ordered_json config;
  FileHashes files;  // the files that the point was read from
};

struct SweepPlan {
  std::vector<SweepPoint> points;  // all ids are different
  std::size_t combinations = 0;    // of the axes' values
  std::size_t excluded = 0;        // combinations excluded by `only` and `except`
  std::size_t unsuited = 0;        // combinations whose algorithm does not suit, where others do
  std::size_t alike = 0;           // combinations that give the same simulation as an earlier one
  std::size_t invalid = 0;         // combinations that the configuration reader refused
};

// Records the reader's errors for each point, together with the point's values. Do not use a plan
// if errors were recorded.
[[nodiscard]] SweepPlan plan_sweep(const Sweep& sweep, Diagnostics& diagnostics);

struct RunPoint;

// The resolved configuration, and a hash of the text of each file that it names, as that text was
// read for the point. Two points with the same content are one simulation.
[[nodiscard]] nlohmann::ordered_json point_content(const RunPoint& point);

// E.g. "collective.size=1MiB system.router.vcs=4".
[[nodiscard]] std::string set_text(const nlohmann::ordered_json& set);

inline constexpr std::size_t kMostCombinations = 1'000'000;

}  // namespace espalier
