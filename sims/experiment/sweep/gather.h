// Collects the results of a sweep in one table, in the same way for every kind of run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/experiment/sweep/point_store.h"

namespace espalier {

struct GatheredSweep {
  std::string csv;    // id, one column for each axis, then the fields of the results
  std::string jsonl;  // {"id", "set", "config_hash", "config", "result"}, one object per line
  std::size_t points = 0;
  std::vector<std::string> missing;  // "ID key=value ...", and what is wrong with the point's file
  std::vector<std::string> failed;   // "ID key=value ...", and the reason of the failure
};

// Rows are in the order of the manifest. The result does not depend on when, where and how often
// points ran.
[[nodiscard]] GatheredSweep gather_sweep(const nlohmann::ordered_json& manifest,
                                         const PointStore& store);

}  // namespace espalier
