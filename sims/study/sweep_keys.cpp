#include "sims/study/sweep_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/text/nearest_name.h"

namespace espalier {

const Key* key_named(const std::string& name, const Place& place, const std::string& what,
                     Diagnostics& diagnostics) {
  if (const Key* key = find_key(name)) return key;
  if (is_section(name)) {
    diagnostics.error(
        place, fmt::format("{}: '{}' is a section, not a key", what, name),
        fmt::format("write the dotted name of a key: {}.{}", name, names_in_section(name).front()));
    return nullptr;
  }
  const std::string nearest = nearest_name(name, key_names());
  diagnostics.error(
      place, fmt::format("{}: unknown key '{}'", what, name),
      nearest.empty()
          ? "write a dotted name such as system.router.vcs; espalier schema lists all keys"
          : fmt::format("did you mean '{}'?", nearest));
  return nullptr;
}

void set_key(ConfigNode& root, const std::string& name, const ConfigNode& value) {
  ConfigNode* section = &root;
  for (std::size_t begin = 0;;) {
    const std::size_t dot = name.find('.', begin);
    const std::string part = name.substr(begin, dot - begin);
    auto entry = std::find_if(section->entries.begin(), section->entries.end(),
                              [&](const ConfigEntry& e) { return e.key == part; });
    if (entry == section->entries.end()) {
      section->entries.push_back({part, value.place, {}});
      entry = section->entries.end() - 1;
    }
    if (dot == std::string::npos) {
      entry->value = value;
      return;
    }
    if (entry->value.kind != ConfigNode::Kind::map) {
      entry->value = ConfigNode{};
      entry->value.kind = ConfigNode::Kind::map;
      entry->value.place = value.place;
    }
    section = &entry->value;
    begin = dot + 1;
  }
}

const ConfigNode* find_setting(const ConfigNode& root, const std::string& name) {
  const ConfigNode* at = &root;
  for (std::size_t begin = 0; at != nullptr;) {
    const std::size_t dot = name.find('.', begin);
    const ConfigEntry* entry = at->find(name.substr(begin, dot - begin));
    if (entry == nullptr) return nullptr;
    at = &entry->value;
    if (dot == std::string::npos) break;
    begin = dot + 1;
  }
  return at;
}

}  // namespace espalier
