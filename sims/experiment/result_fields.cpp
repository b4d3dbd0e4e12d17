#include "sims/experiment/result_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

std::vector<std::string> all_fields(const Json& result) {
  std::vector<std::string> names;
  if (result.is_object()) add_fields(result, "", names);
  return names;
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
  return csv_cell(value->is_string() ? value->get<std::string>() : value->dump());
}

std::string results_csv(const std::vector<Json>& results) {
  std::vector<const Json*> pointers;
  pointers.reserve(results.size());
  for (const Json& result : results) pointers.push_back(&result);
  const std::vector<std::string> fields = table_fields(pointers);
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : ",") + csv_cell(field);
  text += '\n';
  for (const Json& result : results) {
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (f != 0) text += ',';
      text += csv_cell(find_field(result, fields[f]));
    }
    text += '\n';
  }
  return text;
}

}  // namespace espalier
