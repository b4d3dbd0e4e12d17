// A sweep as its file describes it: a configuration, and the keys that vary in it. docs/sweeps.md
// is for users.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sims/config/keys.h"
#include "sims/experiment/workers.h"
#include "sims/text/config_node.h"

namespace espalier {

enum class Relation : std::uint8_t { equal, not_equal, less, at_most, more, at_least };

// One key against one of several values, or against another key.
struct Comparison {
  const Key* key = nullptr;
  Relation relation = Relation::equal;
  std::vector<Value> values;   // any of them; one unless `relation` is equal
  const Key* other = nullptr;  // in place of values
};

// Holds where all comparisons of one of these hold.
using Condition = std::vector<std::vector<Comparison>>;

struct AxisKey {
  const Key* key = nullptr;
  std::vector<ConfigNode> values;  // valid for the key, with their places in the file
};

// Several keys vary together: as many values each.
struct SweepAxis {
  std::vector<AxisKey> keys;
  std::optional<Condition> when;  // elsewhere the keys are as below the axis

  [[nodiscard]] std::size_t size() const { return keys.front().values.size(); }
};

struct Sweep {
  std::string path;    // as given
  std::string name;    // the path's stem
  std::string folder;  // where paths in its points start
  std::string title;
  std::vector<std::string> overrides;
  ConfigNode base;              // below all axes
  std::vector<SweepAxis> axes;  // the last one varies fastest; seeds are one of them
  std::optional<Condition> only;
  std::optional<Condition> except;
  WorkerLimits limits;  // of each point
};

}  // namespace espalier
