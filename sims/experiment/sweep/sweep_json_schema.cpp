#include "sims/config/json_schema.h"
#include "sims/config/keys.h"
#include "sims/experiment/sweep/sweep_reader.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostSeedsInSchema = 1'000'000;

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

Json described(Json schema, const char* meaning) {
  schema["description"] = meaning;
  return schema;
}

Json closed_object(Json properties) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

Json key_name_schema() {
  Json names = Json::array();
  Json meanings = Json::array();
  for (const std::string& name : key_names()) {
    names.push_back(name);
    meanings.push_back(find_key(name)->description);
  }
  return {{"type", "string"}, {"enum", names}, {"enumDescriptions", meanings}};
}

// `key`, and its values as a list or as a range.
Json axis_key_properties() {
  return {{"key", described(reference("key"), "key of the configuration that varies")},
          {"values", {{"type", "array"}, {"minItems", 1}, {"description", "values of the key"}}},
          {"from", {{"description", "first value of the range"}}},
          {"to", {{"description", "end of the range, included if it is met"}}},
          {"step", {{"description", "is added to get the next value"}}},
          {"factor",
           {{"type", "number"},
            {"exclusiveMinimum", 1},
            {"description", "multiplies to get the next value"}}}};
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

// What an axis and a member of `zip` have in common: a range has a step or a factor.
Json axis_forms() {
  return {{{"required", {"key", "values"}}},
          {{"required", {"key", "from", "to", "step"}}},
          {{"required", {"key", "from", "to", "factor"}}}};
}

Json condition_schema() {
  Json mapping{{"type", "object"}, {"minProperties", 1}, {"propertyNames", reference("key")}};
  return {
      {"anyOf", {mapping, {{"type", "array"}, {"minItems", 1}, {"items", mapping}}}},
      {"description",
       "keys with their values, a list of values, or a comparison such as '>= 64'; of a list of "
       "such mappings, one must hold"}};
}

Json definitions(const NameTexts& texts) {
  Json member = closed_object(axis_key_properties());
  member["allOf"] = Json::array({reference("values_of_keys")});
  member["oneOf"] = axis_forms();
  Json properties = axis_key_properties();
  properties["zip"] = {{"type", "array"},
                       {"minItems", 1},
                       {"items", reference("member")},
                       {"description", "keys that vary together"}};
  properties["name"] = {{"type", "string"}, {"description", "name of an axis of cases"}};
  properties["cases"] = {
      {"type", "object"},
      {"minProperties", 1},
      {"additionalProperties",
       {{"anyOf", {{{"type", "string"}}, {{"type", "null"}}, reference("sections")}}}},
      {"description", "configurations in part, or paths of configurations, by name"}};
  properties["when"] = reference("condition");
  properties["kind"] = {
      {"enum", {"workload", "design"}},
      {"description", "reports compare designs, within a workload; without it, the key decides"}};
  Json axis = closed_object(std::move(properties));
  axis["allOf"] = Json::array({reference("values_of_keys")});
  axis["oneOf"] = axis_forms();
  axis["oneOf"].push_back({{"required", Json::array({"zip"})}});
  axis["oneOf"].push_back({{"required", {"name", "cases"}}});
  return {{"key", key_name_schema()},        {"values_of_keys", {{"allOf", rules_of_keys(texts)}}},
          {"member", std::move(member)},     {"axis", std::move(axis)},
          {"condition", condition_schema()}, {"sections", config_json_schema(texts, false)}};
}

Json seeds_schema() {
  Json many{{"type", "integer"}, {"minimum", 1}, {"maximum", kMostSeedsInSchema}};
  Json range = closed_object({{"key", reference("key")},
                              {"first", {{"type", "integer"}, {"minimum", 0}}},
                              {"count", many}});
  range["required"] = Json::array({"count"});
  return {
      {"anyOf", {many, range}},
      {"description", "number of seeds, or the key of the seed, its first value and the count"}};
}

}  // namespace

Json sweep_json_schema(const NameTexts& texts) {
  Json config{{"anyOf", {{{"type", "string"}, {"minLength", 1}}, reference("sections")}}};
  Json root{{"$schema", kJsonSchemaDraft}, {"title", "Sweep file of espalier"}};
  root.update(closed_object(
      {{"title", {{"type", "string"}, {"description", "title of the sweep"}}},
       {"config",
        described(std::move(config),
                  "configuration that all points share: the path of a file, or its sections")},
       {"axes",
        {{"type", "array"},
         {"minItems", 1},
         {"items", reference("axis")},
         {"description", "the last axis varies fastest"}}},
       {"seeds", seeds_schema()},
       {"only", reference("condition")},
       {"except", reference("condition")},
       {"draw",
        {{"type", "object"}, {"description", "how the figures of the Python package draw it"}}},
       {"time_limit", described(json_schema_of(Quantity::duration), "time limit of a point")},
       {"memory_limit",
        described(json_schema_of(Quantity::size), "limit of a point's address space")}}));
  root["required"] = {"title", "config"};
  root["anyOf"] = {{{"required", Json::array({"axes"})}}, {{"required", Json::array({"seeds"})}}};
  root["definitions"] = definitions(texts);
  return root;
}

}  // namespace espalier
