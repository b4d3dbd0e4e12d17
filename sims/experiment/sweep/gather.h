// The results of a sweep in one table, however it was run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/experiment/sweep/point_store.h"

namespace espalier {

struct GatheredSweep {
  std::string csv;    // id, a column for each axis, then the fields of the results
  std::string jsonl;  // {"id", "set", "config_hash", "config", "result"}, one line each
  std::size_t points = 0;
  std::vector<std::string> missing;  // "ID key=value ...", and what is wrong with its file
  std::vector<std::string> failed;   // the same, and why
};

// In the order of the manifest; nothing in it depends on when, where and how often points ran.
[[nodiscard]] GatheredSweep gather_sweep(const nlohmann::ordered_json& manifest,
                                         const PointStore& store);

}  // namespace espalier
