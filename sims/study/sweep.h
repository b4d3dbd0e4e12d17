// A sweep as its file describes it: a configuration, and the keys that vary. User documentation:
// docs/sweeps.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/config/json_schema.h"
#include "sims/config/keys.h"
#include "sims/study/workers.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

enum class Relation : std::uint8_t { equal, not_equal, less, at_most, more, at_least };

// Compares one key with a list of values or with another key.
struct Comparison {
  const Key* key = nullptr;
  Relation relation = Relation::equal;
  std::vector<Value> values;   // one of them must match; a single one unless `relation` is equal
  const Key* other = nullptr;  // compared with instead of values
};

// Holds if all comparisons of at least one inner list hold.
using Condition = std::vector<std::vector<Comparison>>;

// A condition is a mapping from keys to values, all of which must hold, or a list of such mappings,
// one of which must hold. A value must be equal; of a list, one value must be equal; ">= 64", "!=
// ring" and "< KEY" compare. `name` is the condition's name for messages. Records errors.
[[nodiscard]] Condition read_condition(const ConfigNode& node, const std::string& name,
                                       Diagnostics& diagnostics);

// A comparison of a key that has no meaning at the point does not hold.
[[nodiscard]] bool holds(const Condition& condition, const RunPoint& point);

struct AxisKey {
  const Key* key = nullptr;
  std::vector<ConfigNode> values;  // valid for the key, with their places in the file
};

// A partial configuration on an axis, and its entries in a point's `set`: the case's label under
// the axis's name, and the values that the case takes from lists.
struct SweepCase {
  ConfigNode config;
  nlohmann::ordered_json set;
};

// Keys that vary together, each with the same number of values; or named cases.
struct SweepAxis {
  std::vector<AxisKey> keys;
  // If the condition does not hold, the keys keep the values that they have without the axis.
  std::optional<Condition> when;
  // "workload" or "design": what reports compare within, or compare. Empty: by the key.
  std::string kind = {};
  std::string name = {};  // of an axis of cases
  std::vector<SweepCase> cases = {};

  [[nodiscard]] std::size_t size() const {
    return name.empty() ? keys.front().values.size() : cases.size();
  }
};

struct Sweep {
  std::string path;    // as given
  std::string name;    // the path's stem
  std::string folder;  // paths in the points are relative to it
  std::string title;
  std::vector<std::string> overrides;
  ConfigNode base;              // values of the keys before the axes apply
  std::vector<SweepAxis> axes;  // the last one varies fastest; seeds are an axis
  std::optional<Condition> only;
  std::optional<Condition> except;
  WorkerLimits limits;  // of each point
};

// Reads a sweep file. Overrides are "dotted.key=value" as after -s. They win over everything in the
// file. If a key is an axis, the override's value or list of values replaces the axis's values.
// Records errors.
[[nodiscard]] Sweep read_sweep(const std::string& path, const std::vector<std::string>& overrides,
                               Diagnostics& diagnostics);

// A JSON Schema (draft-07) of sweep files, for editors (docs/python.md).
[[nodiscard]] nlohmann::ordered_json sweep_json_schema(const NameTexts& texts);

// Dotted names of configuration keys in a sweep file, and settings in a tree of sections.

// Finds the key with this name. If there is none, records an error that starts with `what` and
// returns nullptr.
[[nodiscard]] const Key* key_named(const std::string& name, const Place& place,
                                   const std::string& what, Diagnostics& diagnostics);

// Creates missing sections and replaces an existing value.
void set_key(ConfigNode& root, const std::string& name, const ConfigNode& value);

// Returns nullptr if the tree does not set the key.
[[nodiscard]] const ConfigNode* find_setting(const ConfigNode& root, const std::string& name);

}  // namespace espalier
