#include "sims/experiment/result_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sims/config/keys.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNotReproducible = "host";

void add_fields(const Json& object, const std::string& prefix, std::vector<std::string>& names) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix.empty() ? key : fmt::format("{}.{}", prefix, key);
    if (value.is_object()) {
      add_fields(value, name, names);
    } else if (!value.is_array()) {
      names.push_back(name);
    }
  }
}

struct TableUnit {
  const char* ending;    // of the column's name
  std::uint64_t factor;  // base units in one unit of the column
};

TableUnit table_unit(Quantity quantity) {
  switch (quantity) {
    case Quantity::time:
      return {"_ns", 1'000};
    case Quantity::rate:
      return {"_GBps", 1'000'000'000};
    case Quantity::frequency:
      return {"_GHz", 1'000'000'000};
    case Quantity::length:
      return {"_nm", 1};
    case Quantity::duration:
      return {"_ms", 1};
    case Quantity::size:
      break;
  }
  return {"_bytes", 1};
}

std::optional<Quantity> quantity_of_key(const std::string& name) {
  const Key* key = find_key(name);
  if (key == nullptr || is_written_as_list(key->shape)) return std::nullopt;
  return quantity_of(key->shape.type);
}

}  // namespace

const Json* find_field(const Json& result, const std::string& name) {
  const Json* at = &result;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    if (!at->is_object()) return nullptr;
    const auto found = at->find(name.substr(begin, end - begin));
    if (found == at->end()) return nullptr;
    at = &*found;
    begin = end + 1;
  }
  return at;
}

std::optional<double> number_in(const Json& result, NumberField field) {
  const Json* value = find_field(result, field);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

std::optional<std::string> text_in(const Json& result, TextField field) {
  const Json* value = find_field(result, field);
  return value != nullptr && value->is_string() ? std::optional(value->get<std::string>())
                                                : std::nullopt;
}

std::optional<bool> truth_in(const Json& result, TruthField field) {
  const Json* value = find_field(result, field);
  return value != nullptr && value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
}

std::vector<std::string> table_fields(const std::vector<const Json*>& results) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Json* result : results) {
    if (!result->is_object()) continue;
    for (const auto& [key, value] : result->items()) {
      if (key == kNotReproducible) continue;
      std::vector<std::string> found;
      add_fields(Json{{key, value}}, "", found);
      for (std::string& name : found) {
        if (seen.insert(name).second) names.push_back(std::move(name));
      }
    }
  }
  return names;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_cell(const Json* value) {
  if (value == nullptr || value->is_null()) return {};
  if (value->is_string()) return csv_cell(value->get<std::string>());
  if (!value->is_number_float()) return csv_cell(value->dump());
  // The JSON library does not always find the shortest decimal.
  const std::string number = fmt::format("{}", value->get<double>());
  return number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
}

std::string number_name(const std::string& key) {
  const auto quantity = quantity_of_key(key);
  return quantity ? key + table_unit(*quantity).ending : std::string();
}

Json number_of(const std::string& key, const Json& value) {
  const auto quantity = quantity_of_key(key);
  if (!quantity || !value.is_string()) return nullptr;
  const ParsedQuantity parsed = parse_quantity(*quantity, value.get<std::string>());
  if (!parsed.value) return nullptr;
  const std::uint64_t factor = table_unit(*quantity).factor;
  if (*parsed.value % factor == 0) return *parsed.value / factor;
  // One division: the nearest double of the exact quotient.
  return static_cast<double>(*parsed.value) / static_cast<double>(factor);
}

Json numbers_of(const Json& set) {
  Json numbers = Json::object();
  for (const auto& [key, value] : set.items()) {
    const std::string name = number_name(key);
    if (!name.empty()) numbers[name] = number_of(key, value);
  }
  return numbers;
}

std::vector<std::string> setting_columns(const std::vector<std::string>& keys) {
  std::vector<std::string> columns;
  for (const std::string& key : keys) {
    columns.push_back(key);
    if (std::string number = number_name(key); !number.empty()) {
      columns.push_back(std::move(number));
    }
  }
  return columns;
}

std::string results_csv(const std::vector<Json>& results, const std::vector<std::string>& columns,
                        const std::vector<Json>& leading) {
  std::vector<const Json*> pointers;
  pointers.reserve(results.size());
  for (const Json& result : results) pointers.push_back(&result);
  std::vector<std::string> fields = table_fields(pointers);
  // Column names must be unique.
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [&](const std::string& field) {
                                return std::find(columns.begin(), columns.end(), field) !=
                                       columns.end();
                              }),
               fields.end());
  std::vector<std::string> header;
  for (const std::string& name : columns) header.push_back(csv_cell(name));
  for (const std::string& name : fields) header.push_back(csv_cell(name));
  std::string text = fmt::format("{}\n", fmt::join(header, ","));
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) {
      const auto found = leading[r].find(column);
      cells.push_back(csv_cell(found == leading[r].end() ? nullptr : &*found));
    }
    for (const std::string& field : fields)
      cells.push_back(csv_cell(find_field(results[r], field)));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace espalier
