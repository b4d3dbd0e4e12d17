#include "sims/text/strict_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/text/nearest_name.h"
#include "sims/text/utf8.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void check_keys(const ConfigNode& map, const std::string& name,
                const std::vector<std::string>& keys, Diagnostics& diagnostics) {
  for (const ConfigEntry& entry : map.entries) {
    if (contains(keys, entry.key)) continue;
    diagnostics.error(entry.place,
                      name.empty() ? fmt::format("unknown key '{}'", entry.key)
                                   : fmt::format("unknown key '{}' in '{}'", entry.key, name),
                      name_hint(entry.key, keys));
  }
}

StrictMap::StrictMap(const ConfigNode& node, std::string name, const std::vector<std::string>& keys,
                     Diagnostics& diagnostics)
    : node_(node),
      name_(std::move(name)),
      usable_(node.kind == ConfigNode::Kind::map),
      diagnostics_(diagnostics) {
  if (!usable_) {
    diagnostics.error(node.place,
                      name_.empty() ? "expected a mapping of keys"
                                    : fmt::format("{}: expected a mapping of keys", name_),
                      fmt::format("its keys: {}", fmt::join(keys, ", ")));
    return;
  }
  check_keys(node_, name_, keys, diagnostics);
  const auto is_unknown = [&](const ConfigEntry& entry) { return !contains(keys, entry.key); };
  node_.entries.erase(std::remove_if(node_.entries.begin(), node_.entries.end(), is_unknown),
                      node_.entries.end());
}

std::string StrictMap::named(const std::string& key) const {
  return name_.empty() ? key : name_ + "." + key;
}

const ConfigNode* StrictMap::find(const std::string& key) const {
  const ConfigEntry* entry = node_.find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

Place StrictMap::place_of(const std::string& key) const {
  const ConfigEntry* entry = node_.find(key);
  if (entry == nullptr) return node_.place;
  return entry->value.kind == ConfigNode::Kind::null ? entry->place : entry->value.place;
}

std::optional<std::string> StrictMap::text(const std::string& key) const {
  const ConfigNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  ConfigNode placed = *node;
  placed.place = place_of(key);
  return parse_label(placed, named(key), diagnostics_);
}

std::optional<std::uint64_t> StrictMap::integer(const std::string& key, std::uint64_t min,
                                                std::uint64_t max) const {
  const ConfigNode* node = find(key);
  if (node == nullptr) return std::nullopt;
  ConfigNode placed = *node;
  placed.place = place_of(key);
  const auto value = parse_value(placed, named(key), range_shape(min, max), diagnostics_);
  if (!value) return std::nullopt;
  return value->number;
}

std::vector<ConfigNode> StrictMap::list(const std::string& key, const std::string& hint) const {
  const ConfigNode* node = find(key);
  if (node == nullptr) return {};
  if (node->kind != ConfigNode::Kind::list || node->items.empty()) {
    diagnostics_.error(place_of(key),
                       fmt::format("{}: expected a list of at least one item", named(key)), hint);
    return {};
  }
  return node->items;
}

bool StrictMap::require(const std::string& key, const std::string& hint) const {
  if (!usable_ || find(key) != nullptr) return true;
  diagnostics_.error(node_.place, fmt::format("missing key '{}'", named(key)), hint);
  return false;
}

std::optional<std::string> parse_label(const ConfigNode& node, const std::string& name,
                                       Diagnostics& diagnostics) {
  if (node.kind != ConfigNode::Kind::scalar || node.text.empty()) {
    diagnostics.error(node.place, fmt::format("{}: expected a line of text", name));
    return std::nullopt;
  }
  if (!is_plain_text(node.text)) {
    diagnostics.error(node.place, fmt::format("{}: contains a control character", name),
                      "write a single line");
    return std::nullopt;
  }
  if (node.text.find('"') != std::string::npos) {
    diagnostics.error(node.place, fmt::format("{}: contains a double quote", name),
                      "use single quotes");
    return std::nullopt;
  }
  return node.text;
}

}  // namespace espalier
