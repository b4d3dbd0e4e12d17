// One mapping of a figure or sweep file: known keys only, each of the kind it should be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"
#include "sims/text/units.h"

namespace espalier {

// Records the keys of a mapping that are not in `keys`. `name`: of the mapping, for messages; empty
// for a file.
void check_keys(const ConfigNode& map, const std::string& name,
                const std::vector<std::string>& keys, Diagnostics& diagnostics);

class StrictMap {
 public:
  // `name`: what the mapping is, for messages ("x"); empty for a file. Records keys that are not in
  // `keys`, and a node that is no mapping; the map is empty then.
  StrictMap(const ConfigNode& node, std::string name, const std::vector<std::string>& keys,
            Diagnostics& diagnostics);

  [[nodiscard]] const ConfigNode* find(const std::string& key) const;
  [[nodiscard]] Place place_of(const std::string& key) const;

  // Values where they are given and good; errors are recorded where they are given and not.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  [[nodiscard]] std::optional<std::size_t> choice(const std::string& key,
                                                  const std::vector<std::string>& names) const;
  [[nodiscard]] std::optional<bool> boolean(const std::string& key) const;
  [[nodiscard]] std::optional<double> positive_number(const std::string& key) const;
  [[nodiscard]] std::optional<std::uint64_t> integer(const std::string& key, std::uint64_t min,
                                                     std::uint64_t max) const;
  // At least `min`, in the quantity's base units.
  [[nodiscard]] std::optional<std::uint64_t> quantity(const std::string& key, Quantity quantity,
                                                      std::uint64_t min) const;
  // Empty where it is missing or no list of at least one item.
  [[nodiscard]] std::vector<ConfigNode> list(const std::string& key,
                                             const std::string& hint = {}) const;

  // Records that the key is missing, unless it is there.
  bool require(const std::string& key, const std::string& hint) const;

 private:
  [[nodiscard]] std::string named(const std::string& key) const;

  ConfigNode node_;
  std::string name_;
  bool usable_;  // what is missing in it is really missing
  Diagnostics& diagnostics_;
};

// Text for people, as it stands in tables and pictures: not empty, one line, no double quotes.
[[nodiscard]] std::optional<std::string> parse_label(const ConfigNode& node,
                                                     const std::string& name,
                                                     Diagnostics& diagnostics);

}  // namespace espalier
