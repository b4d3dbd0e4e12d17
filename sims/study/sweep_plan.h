// The points of a sweep. Each is a complete and checked configuration.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/study/study.h"
#include "sims/study/sweep.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct SweepPlan {
  std::vector<StudyPoint> points;  // all ids are different
  std::size_t combinations = 0;    // of the axes' values
  std::size_t excluded = 0;        // combinations excluded by `only` and `except`
  std::size_t unsuited = 0;        // combinations whose algorithm does not suit, where others do
  std::size_t alike = 0;           // combinations that give the same simulation as an earlier one
  std::size_t invalid = 0;         // combinations that the configuration reader refused
};

// Records the reader's errors for each point, together with the point's values. Do not use a plan
// if errors were recorded.
[[nodiscard]] SweepPlan plan_sweep(const Sweep& sweep, Diagnostics& diagnostics);

// E.g. "collective.size=1MiB system.router.vcs=4".
[[nodiscard]] std::string set_text(const nlohmann::ordered_json& set);

inline constexpr std::size_t kMostCombinations = 1'000'000;

}  // namespace espalier
