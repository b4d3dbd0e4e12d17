#include <fmt/format.h>

#include <algorithm>

#include "sims/config/given_keys.h"
#include "sims/config/json_schema.h"
#include "sims/experiment/embedded_files.h"
#include "sims/study/sweep.h"

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
  const std::string nearest = nearest_key(name);
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

namespace {

using Json = nlohmann::ordered_json;

Json names_and_meanings() {
  Json names = Json::array();
  Json meanings = Json::array();
  for (const std::string& name : key_names()) {
    names.push_back(name);
    meanings.push_back(find_key(name)->description);
  }
  return {{"enum", names}, {"enumDescriptions", meanings}};
}

// The values that each key takes. Every rule looks at one key only.
Json rules_of_keys(const NameTexts& texts) {
  Json rules = Json::array();
  for (const std::string& name : key_names()) {
    const Json value = json_schema_of_key(name, texts);
    rules.push_back(
        {{"if", {{"properties", {{"key", {{"const", name}}}}}, {"required", Json::array({"key"})}}},
         {"then",
          {{"properties", {{"values", {{"items", value}}}, {"from", value}, {"to", value}}}}}});
  }
  return rules;
}

}  // namespace

Json sweep_json_schema(const NameTexts& texts) {
  Json root = Json::parse(sweep_schema_file());
  Json& definitions = root["definitions"];
  definitions["key"].update(names_and_meanings());
  definitions["values_of_keys"]["allOf"] = rules_of_keys(texts);
  definitions["sections"] = config_json_schema(texts, false);
  for (const auto& [limit, quantity] :
       {std::pair("time_limit", Quantity::duration), {"memory_limit", Quantity::size}}) {
    Json text = json_schema_of(quantity);
    text.update(root["properties"][limit]);
    root["properties"][limit] = std::move(text);
  }
  return root;
}

}  // namespace espalier
