// A mapping in a sweep file. Only known keys are allowed, and each value has a fixed
// type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Records an error for each key of `map` that is not in `keys`. `name` is the mapping's name for
// messages; empty for a whole file.
void check_keys(const ConfigNode& map, const std::string& name,
                const std::vector<std::string>& keys, Diagnostics& diagnostics);

class StrictMap {
 public:
  // `name` is the mapping's name for messages ("x"); empty for a whole file. Records an error for
  // each key that is not in `keys`. If `node` is not a mapping, records an error and uses an empty
  // one.
  StrictMap(const ConfigNode& node, std::string name, const std::vector<std::string>& keys,
            Diagnostics& diagnostics);

  [[nodiscard]] const ConfigNode* find(const std::string& key) const;
  [[nodiscard]] Place place_of(const std::string& key) const;

  // Return the value if the key is given and valid. An invalid value records an error.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  [[nodiscard]] std::optional<std::uint64_t> integer(const std::string& key, std::uint64_t min,
                                                     std::uint64_t max) const;
  // Returns an empty list if the key is missing or is not a list of at least one item.
  [[nodiscard]] std::vector<ConfigNode> list(const std::string& key,
                                             const std::string& hint = {}) const;

  // Records an error if the key is missing.
  bool require(const std::string& key, const std::string& hint) const;

 private:
  [[nodiscard]] std::string named(const std::string& key) const;

  ConfigNode node_;
  std::string name_;
  bool usable_;  // false: do not report missing keys
  Diagnostics& diagnostics_;
};

// Text for tables and pictures: not empty, one line, no double quotes.
[[nodiscard]] std::optional<std::string> parse_label(const ConfigNode& node,
                                                     const std::string& name,
                                                     Diagnostics& diagnostics);

}  // namespace espalier
