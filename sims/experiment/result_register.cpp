#include "sims/experiment/result_register.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hw/counters.h"
#include "sims/experiment/embedded_files.h"
#include "sims/experiment/result_fields.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

std::vector<ResultField> with_counters() {
  std::vector<ResultField> fields;
  for (const ResultField& field : listed_result_fields()) {
    fields.push_back(field);
    if (field.name != "flit_hops") continue;
    for (const CounterRow& counter : counter_rows()) {
      fields.push_back({counter.name, ResultType::number, counter.unit, "simulation",
                        counter.counts_meetings ? kFoldable : "",
                        "collective, plan, program, training, traffic", counter.meaning});
    }
  }
  return fields;
}

// `pattern` may have one '*', which stands for any text.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view end = pattern.substr(star + 1);
  return name.size() >= star + end.size() && name.substr(0, star) == pattern.substr(0, star) &&
         name.substr(name.size() - end.size()) == end;
}

// Sets every member of that name to null: "links[].utilization", "dimensions.dim*.utilization".
void clear_member(Json& value, std::string_view name) {
  const std::size_t dot = name.find('.');
  std::string_view first = name.substr(0, dot);
  const bool in_list = first.size() > 2 && first.substr(first.size() - 2) == "[]";
  if (in_list) first.remove_suffix(2);
  for (auto& [key, member] : value.items()) {
    if (!matches(first, key)) continue;
    if (dot == std::string_view::npos) {
      member = nullptr;
    } else if (in_list && member.is_array()) {
      for (Json& entry : member) clear_member(entry, name.substr(dot + 1));
    } else if (member.is_object()) {
      clear_member(member, name.substr(dot + 1));
    }
  }
}

std::string unit_text(const ResultField& field) {
  return field.unit.empty() ? "" : fmt::format(" [{}]", field.unit);
}

// By ResultType; nullptr: any type.
constexpr const char* kSchemaTypes[] = {"number", "string", "boolean", "object", "array", nullptr};

// The schema of the member `name` of `object`, which gets it if it has none. "links[]" is the entry
// of a list; "dim*" stands for dim1, dim2 and so on, and "*" for any name.
Json& schema_member(Json& object, const std::string& name) {
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

}  // namespace

const std::vector<ResultField>& result_register() {
  static const std::vector<ResultField> fields = with_counters();
  return fields;
}

const ResultField* find_result_field(const std::string& name) {
  const auto& fields = result_register();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const ResultField& field) {
    return matches(field.name, name);
  });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<ResultMisfit> first_misfit(const Json& result) {
  for (const ResultField& field : result_register()) {
    const char* const type = kSchemaTypes[static_cast<std::size_t>(field.type)];
    const Json* value = find_field(result, std::string(field.name));
    if (value == nullptr || value->is_null() || type == nullptr) continue;
    const std::string found = value->type_name();
    if (found == type) continue;
    const bool has_vowel = type[0] == 'o' || type[0] == 'a';
    return ResultMisfit{std::string(field.name),
                        fmt::format("expected {} {}, not {}", has_vowel ? "an" : "a", type, found)};
  }
  return std::nullopt;
}

std::string result_register_text() {
  std::string text;
  for (const ResultField& field : result_register()) {
    text += fmt::format("{}{}\n  {}\n  from: {}\n  runs: {}\n", field.name, unit_text(field),
                        field.meaning, field.from, field.runs);
    if (!field.void_if.empty()) text += fmt::format("  void if: {}\n", field.void_if);
  }
  return text;
}

std::string result_register_json() {
  Json list = Json::array();
  for (const ResultField& field : result_register()) {
    list.push_back({{"name", field.name},
                    {"unit", field.unit},
                    {"meaning", field.meaning},
                    {"from", field.from},
                    {"runs", field.runs},
                    {"void_if", field.void_if}});
  }
  return list.dump(2) + "\n";
}

Json results_json_schema() {
  Json root = Json::parse(results_schema_file());
  for (const ResultField& field : result_register()) {
    Json* at = &root["definitions"]["result"];
    for (std::size_t begin = 0; begin <= field.name.size();) {
      const std::size_t end = std::min(field.name.find('.', begin), field.name.size());
      at = &schema_member(*at, std::string(field.name.substr(begin, end - begin)));
      begin = end + 1;
    }
    const char* type = kSchemaTypes[static_cast<std::size_t>(field.type)];
    if (type != nullptr) (*at)["type"] = {type, "null"};
    (*at)["description"] = fmt::format("{}{}", field.meaning, unit_text(field));
  }
  return root;
}

void clear_void_fields(Json& result, std::string_view void_if) {
  for (const ResultField& field : result_register()) {
    if (field.void_if == void_if) clear_member(result, field.name);
  }
}

}  // namespace espalier
