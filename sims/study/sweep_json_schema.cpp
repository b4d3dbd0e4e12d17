#include "sims/config/json_schema.h"
#include "sims/config/keys.h"
#include "sims/experiment/embedded_files.h"
#include "sims/study/sweep.h"

namespace espalier {

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
