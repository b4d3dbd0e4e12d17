// A YAML document as a tree of values with their places, in the strict subset that configurations
// use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sims/text/diagnostics.h"

namespace espalier {

struct ConfigEntry;

struct ConfigNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  Place place;
  std::string text;                  // scalar
  bool quoted = false;               // scalar: in quotes, so it is text and never a number
  std::vector<ConfigNode> items;     // list
  std::vector<ConfigEntry> entries;  // map, in file order, without duplicates

  // Returns nullptr if the map does not have the key.
  [[nodiscard]] const ConfigEntry* find(const std::string& key) const;
};

struct ConfigEntry {
  std::string key;
  Place place;  // of the key
  ConfigNode value;
};

inline const ConfigEntry* ConfigNode::find(const std::string& key) const {
  for (const ConfigEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

}  // namespace espalier
