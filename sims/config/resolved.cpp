#include "sims/config/resolved.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hw/topology/vertex_names.h"
#include "sims/config/keys.h"
#include "sims/nccl/machine.h"
#include "sims/point/config.h"
#include "sims/text/file_hashes.h"

namespace espalier {

namespace {

// In a list of integers, a word ("auto") remains text.
nlohmann::ordered_json json_list(const Value& value, const ValueShape& shape) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const ValueShape each = entry_shape(shape);
  for (const std::uint64_t number : value.items) {
    list.push_back(json_value(number_value(number), each));
  }
  for (const std::string& text : value.texts) list.push_back(text);
  for (const std::vector<Value>& record : value.records) {
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();
    for (std::size_t f = 0; f < record.size(); ++f) {
      const ValueField& field = each.fields[f];
      if (!field.required && record[f] == Value{}) continue;
      fields[field.name] = json_value(record[f], field.shape);
    }
    list.push_back(std::move(fields));
  }
  return list;
}

nlohmann::ordered_json& at_dotted(nlohmann::ordered_json& root, const std::string& name) {
  nlohmann::ordered_json* section = &root;
  std::size_t begin = 0;
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
    section = &(*section)[name.substr(begin, dot - begin)];
    begin = dot + 1;
  }
  return (*section)[name.substr(begin)];
}

nlohmann::ordered_json json_mapping(const Value& value, const ValueShape& shape) {
  nlohmann::ordered_json mapping = nlohmann::ordered_json::object();
  for (std::size_t f = 0; f < shape.fields.size(); ++f) {
    const Value& field = value.records.front()[f];
    if (field == Value{}) continue;
    at_dotted(mapping, shape.fields[f].name) = json_value(field, shape.fields[f].shape);
  }
  return mapping;
}

}  // namespace

nlohmann::ordered_json json_value(const Value& value, const ValueShape& shape) {
  if (shape.list != ListOf::nothing && !is_word(value, shape)) return json_list(value, shape);
  switch (shape.type) {
    case ValueType::boolean:
      return value.number != 0;
    case ValueType::fraction:
      if (!is_word(value, shape)) return value.fraction;
      break;
    case ValueType::integer:
      if (!is_word(value, shape)) return value.number;
      break;
    case ValueType::record:
      if (!is_word(value, shape)) return json_mapping(value, shape);
      break;
    case ValueType::vertex:
      if (const auto number = node_number(value.text)) return *number;
      break;
    default:
      break;
  }
  return format_value(value, shape);
}

nlohmann::ordered_json resolved_json(const RunPoint& point) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  for (const Key& key : keys()) {
    if (!key.resolved || !has_section_of(point, key) || !key.applies_at(point)) continue;
    const Value value = key.get(point);
    // A path or a label that is not given is empty.
    const bool is_text = key.shape.type == ValueType::text || key.shape.type == ValueType::label;
    if (is_text && value.text.empty()) continue;
    if (key.optional && is_word(value, key.shape)) continue;
    at_dotted(root, key.name) = json_value(value, key.shape);
  }
  // Its keys are written, but not what NCCL finds and takes there, which a step asks again.
  if (point.collective && point.collective->nccl) {
    root["system"]["preset"] = point.collective->nccl->preset;
  }
  return root;
}

std::string hash_of(const nlohmann::ordered_json& config) {
  return fmt::format("{:016x}", hash_text(config.dump()));
}

std::string config_hash(const RunPoint& point) { return hash_of(resolved_json(point)); }

}  // namespace espalier
