// Collects the results of a sweep in one table, in the same way for every kind of run.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/experiment/sweep/point_store.h"

namespace espalier {

struct GatheredSweep {
  // id; for each axis its values, and behind them their numbers if they have a unit; then the
  // fields of the results
  std::string csv;
  // {"id", "set", "set_numbers", "config_hash", "config", "result"}, one object per line
  std::string jsonl;
  std::size_t points = 0;
  std::vector<std::string> missing;  // "ID key=value ...", and what is wrong with the point's file
  std::vector<std::string> failed;   // "ID key=value ...", and the reason of the failure
  // Number of points that each version of the program made; "" for points that do not tell.
  std::map<std::string, std::size_t> versions;
};

// Rows are in the order of the manifest. The result does not depend on when, where and how often
// points ran.
[[nodiscard]] GatheredSweep gather_sweep(const nlohmann::ordered_json& manifest,
                                         const PointStore& store);

}  // namespace espalier
