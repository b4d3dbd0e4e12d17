#include "sims/experiment/result_register.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sims/config/json_schema.h"
#include "sims/experiment/result_register.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Json type_of(ResultType type) {
  // A field that has no value in a run is null (the column "void if" of the register).
  switch (type) {
    case ResultType::number:
      return {"number", "null"};
    case ResultType::text:
      return {"string", "null"};
    case ResultType::truth:
      return {"boolean", "null"};
    case ResultType::object:
      return {"object", "null"};
    case ResultType::list:
      return {"array", "null"};
    case ResultType::any:
      break;
  }
  return nullptr;
}

// The schema of the member `name` of `object`, which gets it if it has none. "links[]" is the entry
// of a list; "dim*" stands for dim1, dim2 and so on, and "*" for any name.
Json& member(Json& object, const std::string& name) {
  if (name == "*") {
    Json& any = object["additionalProperties"];
    if (!any.is_object()) any = Json::object();
    return any;
  }
  const bool is_entry = name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0;
  const bool is_pattern = !name.empty() && name.back() == '*';
  object["additionalProperties"] = false;
  if (is_pattern) {
    return object["patternProperties"][fmt::format("^{}[0-9]+$", name.substr(0, name.size() - 1))];
  }
  Json& field = object["properties"][is_entry ? name.substr(0, name.size() - 2) : name];
  return is_entry ? field["items"] : field;
}

Json result_schema() {
  Json result{{"type", "object"}};
  for (const ResultField& field : result_register()) {
    Json* at = &result;
    const std::string name = field.name;
    for (std::size_t begin = 0; begin <= name.size();) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      at = &member(*at, name.substr(begin, end - begin));
      begin = end + 1;
    }
    if (Json type = type_of(field.type); !type.is_null()) (*at)["type"] = std::move(type);
    const std::string unit = *field.unit == '\0' ? "" : fmt::format(" [{}]", field.unit);
    (*at)["description"] = field.meaning + unit;
  }
  return result;
}

Json closed(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

}  // namespace

Json results_json_schema() {
  const Json text{{"type", "string"}};
  const Json object{{"type", "object"}};
  const Json index{{"type", "integer"}, {"minimum", 0}};
  const Json numbers{{"type", "object"}, {"additionalProperties", {{"type", {"number", "null"}}}}};
  const Json result{{"$ref", "#/definitions/result"}};
  const Json hash{{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}};
  Json root{{"$schema", kJsonSchemaDraft},
            {"title", "Results of espalier run, compare and latency --json"}};
  root.update(closed(
      {{"tool", closed({{"name", text}, {"version", text}}, {"name", "version"})},
       {"command", list_of(text)},
       {"config", {{"type", {"object", "array"}}}},
       {"config_hash", hash},
       {"points",
        list_of(closed({{"config", {{"type", "integer"}}}, {"schedule", text}, {"set", object}},
                       Json::array({"set"})))},
       {"results", list_of(result)},
       // Written by `compare`: for each workload, indices of results, the best one first.
       {"rankings", list_of(list_of(index))},
       {"skipped",
        list_of(closed({{"algorithm", text}, {"reason", text}}, {"algorithm", "reason"}))},
       // Written by `latency`: a curve for each design.
       {"designs",
        list_of(closed({{"name", text},
                        {"saturation_flits_per_node_cycle", {{"type", {"number", "null"}}}},
                        {"results", list_of(index)}},
                       {"name", "saturation_flits_per_node_cycle", "results"}))}},
      {"tool", "command", "config", "config_hash", "points", "results"}));
  root["definitions"]["result"] = result_schema();
  root["definitions"]["row"] =
      closed({{"id", hash},
              {"set", object},
              {"set_numbers", numbers},
              {"config_hash", hash},
              {"config", object},
              {"result", result}},
             {"id", "set", "set_numbers", "config_hash", "config", "result"});
  return root;
}

}  // namespace espalier
