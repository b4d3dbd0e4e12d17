// The schema of configurations, as text and as JSON Schema.
#include "sims/config/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sims/config/keys.h"
#include "sims/config/resolved.h"
#include "sims/point/config.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Json any_of(Json one, Json other) { return {{"anyOf", {std::move(one), std::move(other)}}}; }

Json or_word(Json schema, const std::string& word) {
  return word.empty() ? schema : any_of({{"const", word}}, std::move(schema));
}

Json fraction_schema(const ValueShape& shape) {
  return {{"type", "number"},
          {shape.min_excluded ? "exclusiveMinimum" : "minimum", shape.min_fraction},
          {shape.max_excluded ? "exclusiveMaximum" : "maximum", shape.max_fraction}};
}

Json record_schema(const ValueShape& shape) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ValueField& field : shape.fields) {
    properties[field.name] = json_schema_of(field.shape);
    if (field.required) required.push_back(field.name);
  }
  Json mapping = {{"type", "object"},
                  {"properties", std::move(properties)},
                  {"required", std::move(required)},
                  {"additionalProperties", false}};
  const ValueShape& first = shape.fields.front().shape;
  return first.list == ListOf::nothing ? mapping
                                       : any_of(json_schema_of(first), std::move(mapping));
}

// The fields' names are dotted, and the schema nests them.
Json mapping_schema(const ValueShape& shape, const std::string& group) {
  Json properties = Json::object();
  for (const std::string& name : names_in_group(shape.fields, group)) {
    const std::string full = join_key(group, name);
    const auto field = std::find_if(shape.fields.begin(), shape.fields.end(),
                                    [&](const ValueField& f) { return f.name == full; });
    if (field == shape.fields.end()) {
      properties[name] = mapping_schema(shape, full);
    } else {
      properties[name] = json_schema_of(field->shape);
      properties[name]["description"] = field->meaning;
    }
  }
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

Json name_schema(const ValueShape& shape) {
  Json names = {{"type", "string"}, {"enum", shape.names}};
  if (shape.file_endings.empty()) return or_word(std::move(names), shape.all_word);
  std::string endings;
  for (const std::string& ending : shape.file_endings) {
    endings += (endings.empty() ? "" : "|") + ending.substr(1);  // without the dot
  }
  return {{"anyOf",
           {{{"const", shape.all_word}},
            std::move(names),
            {{"type", "string"}, {"pattern", fmt::format("\\.({})$", endings)}}}}};
}

Json scalar_schema(const ValueShape& shape) {
  if (const auto quantity = quantity_of(shape.type)) return json_schema_of(*quantity);
  switch (shape.type) {
    case ValueType::name:
      return name_schema(shape);
    case ValueType::boolean:
      return {{"type", "boolean"}};
    case ValueType::integer:
      if (shape.is_node) return {{"type", {"integer", "string"}}};
      return {{"type", "integer"}, {"minimum", shape.min}, {"maximum", shape.max}};
    case ValueType::fraction:
      return fraction_schema(shape);
    case ValueType::vertex:
      return {{"type", {"integer", "string"}}};
    case ValueType::record:
      return record_schema(shape);
    default:
      return {{"type", "string"}, {"minLength", 1}};
  }
}

std::size_t most_entries(ListOf list) {
  constexpr std::size_t kMostGrid = 3;
  return list == ListOf::grid            ? kMostGrid
         : list == ListOf::per_dimension ? kMostDimensions
                                         : kMostListed;
}

const RunPoint& point_of_defaults() {
  static const RunPoint defaults = [] {
    RunPoint point;
    for (const Section& section : optional_sections()) section.add_to(point);
    return point;
  }();
  return defaults;
}

// The path of a file has no default.
bool has_default(const Key& key) {
  return !key.required && (key.shape.type != ValueType::text || !key.shape.zero_word.empty());
}

// Null if the key has none.
Json default_of(const Key& key) {
  return has_default(key) ? json_value(key.get(point_of_defaults()), key.shape) : Json();
}

std::string meaning_of(const Key& key) {
  std::string text = fmt::format("{}\n{}{}", key.description, describe(key.shape),
                                 key.listable ? "; or a list of values, which are all run" : "");
  if (!key.conditions.empty()) text += fmt::format("\nOnly where {}.", key.applies_when());
  return text;
}

// Editors show these lines beside the names; validators ignore the keyword.
void add_name_texts(Json& schema, const Key& key, const NameTexts& texts) {
  const auto found = texts.find(key.name);
  if (found == texts.end()) return;
  Json lines = Json::array();
  for (const std::string& name : key.shape.names) {
    const auto text = found->second.find(name);
    lines.push_back(text == found->second.end() ? "" : text->second);
  }
  schema["enumDescriptions"] = std::move(lines);
}

Json value_schema(const Key& key, const NameTexts& texts) {
  Json schema = json_schema_of(key.shape);
  if (key.shape.type == ValueType::name && key.shape.list == ListOf::nothing) {
    add_name_texts(schema, key, texts);
  }
  return schema;
}

Json key_schema(const Key& key, const NameTexts& texts) {
  Json value = value_schema(key, texts);
  Json schema;
  if (key.listable) {
    // The value and the list do not depend on each other, so that editors offer the names in both.
    schema = any_of(value, {{"type", "array"}, {"items", value}, {"minItems", 1}});
  } else {
    schema = std::move(value);
  }
  schema["description"] = meaning_of(key);
  if (Json preset = default_of(key); !preset.is_null()) schema["default"] = std::move(preset);
  return schema;
}

Json section_schema(const std::string& section, const NameTexts& texts, bool is_whole) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const std::string& name : names_in_section(section)) {
    const std::string full = join_key(section, name);
    const Key* key = find_key(full);
    properties[name] =
        key == nullptr ? section_schema(full, texts, is_whole) : key_schema(*key, texts);
    // A preset may give a key of the system.
    const bool is_always_given =
        key != nullptr && key->required && key->conditions.empty() && !is_inside(full, "system");
    if (is_whole && is_always_given) required.push_back(name);
  }
  Json schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

std::string units_line(const char* what, Quantity quantity) {
  std::string line = fmt::format("  {:<11}", what);
  for (const Unit& unit : units_of(quantity)) line += " " + unit.name;
  return line + "\n";
}

std::string key_text(const Key& key, const std::string& name, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  const std::string value = has_default(key)
                                ? "default " + format_value(key.get(point_of_defaults()), key.shape)
                                : std::string(key.required ? "required" : "optional");
  std::string text = fmt::format("{}{}: {}; {}{}\n", indent, name, describe(key.shape), value,
                                 key.listable ? "; or a list" : "");
  text += fmt::format("{}    {}\n", indent, key.description);
  if (!key.conditions.empty()) {
    text += fmt::format("{}    only where {}\n", indent, key.applies_when());
  }
  return text;
}

void write_schema_section(const std::string& section, std::size_t depth, std::string& out) {
  for (const std::string& name : names_in_section(section)) {
    const std::string full = join_key(section, name);
    if (const Key* key = find_key(full)) {
      out += key_text(*key, name, depth);
    } else {
      out += fmt::format("{}{}:\n", std::string(2 * depth, ' '), name);
      write_schema_section(full, depth + 1, out);
    }
  }
}

}  // namespace

Json json_schema_of(Quantity quantity) {
  std::vector<std::string> units;
  for (const Unit& unit : units_of(quantity)) units.push_back(unit.name);
  return {{"type", "string"},
          {"pattern", fmt::format(R"(^(0|[1-9][0-9]*)(\.[0-9]+)? *({})$)", fmt::join(units, "|"))}};
}

Json json_schema_of(const ValueShape& shape) {
  if (shape.list == ListOf::nothing && shape.type == ValueType::record) {
    return or_word(mapping_schema(shape, ""), shape.zero_word);
  }
  if (shape.list == ListOf::nothing) {
    const bool has_word = shape.type != ValueType::text && shape.type != ValueType::name;
    return or_word(scalar_schema(shape), has_word ? shape.zero_word : "");
  }
  Json list{{"type", "array"},
            {"items", shape.type == ValueType::record ? record_schema(shape)
                                                      : json_schema_of(entry_shape(shape))},
            {"minItems", 1},
            {"maxItems", most_entries(shape.list)}};
  return or_word(std::move(list), shape.zero_word);
}

Json json_schema_of_key(const std::string& name, const NameTexts& texts) {
  const Key& key = *find_key(name);
  Json schema = value_schema(key, texts);
  schema["description"] = meaning_of(key);
  return schema;
}

Json config_json_schema(const NameTexts& texts, bool is_whole) {
  Json schema = section_schema("", texts, is_whole);
  if (!is_whole) return schema;
  Json root{{"$schema", kJsonSchemaDraft}, {"title", "Configuration of espalier"}};
  root.update(schema);
  root["not"] = {{"required", {"collective", "traffic"}}};
  return root;
}

Json keys_json() {
  Json list = Json::array();
  for (const Key& key : keys()) {
    Json& entry = list.emplace_back();
    entry["name"] = key.name;
    entry["values"] = describe(key.shape);
    if (key.shape.type == ValueType::name) entry["names"] = key.shape.names;
    entry["default"] = default_of(key);
    entry["required"] = key.required;
    entry["may_be_list"] = key.listable;
    entry["meaning"] = key.description;
    entry["only_where"] = key.applies_when();
  }
  return list;
}

std::string schema_text() {
  std::string out =
      "A configuration is one YAML document. A number with a unit is written with the unit:\n";
  out += units_line("time", Quantity::time);
  out += units_line("bandwidth", Quantity::rate);
  out += units_line("frequency", Quantity::frequency);
  out += units_line("size", Quantity::size);
  out += units_line("length", Quantity::length);
  const auto racked = families_where([](const Family& f) { return f.racks != nullptr; });
  out += fmt::format(
      "kB, MB and GB are powers of 1000; KiB, MiB and GiB are powers of 1024. Booleans are true "
      "and false.\nA file has either 'collective' or 'traffic'. Besides 'collective' it may have\n "
      " training      one training iteration, which all-reduces its gradients\n  coordination  "
      "with 'training': hosts agree which tensors are all-reduced next\n  workload      instead of "
      "'training': iterations with their own collectives\n  control       short control messages; "
      "also without a collective\n  tenants       traffic of other tenants on a {}\nIf a "
      "key that takes a list has one, each value is run; several lists run every combination.\nOn "
      "the command line a key is given by its dotted name: -s system.link.latency=100ns\n\n",
      fmt::join(racked, " or a "));
  write_schema_section("", 0, out);
  return out;
}

}  // namespace espalier
