// How the value of a field becomes JSON, for the functions that CMake writes from results.txt.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace espalier {

// An entry of a list that results write as an object, by name.
template <class T>
struct Named {
  std::string name;
  T value;
};

// A part of a result is an object with the fields of the part.
template <class T>
nlohmann::ordered_json json_of(const T& value) {
  if constexpr (std::is_constructible_v<nlohmann::ordered_json, const T&>) {
    return value;
  } else {
    nlohmann::ordered_json object;
    write_fields(object, value);
    return object;
  }
}
template <class T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : nlohmann::ordered_json();
}
template <class T>
nlohmann::ordered_json json_of(const std::vector<T>& values) {
  auto list = nlohmann::ordered_json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}
template <class T>
nlohmann::ordered_json json_of(const std::vector<Named<T>>& values) {
  nlohmann::ordered_json object;
  for (const Named<T>& value : values) object[value.name] = json_of(value.value);
  return object;
}

template <class T>
void put(nlohmann::ordered_json& to, const char* field, const T& value) {
  to[field] = json_of(value);
}
// The field "dim*": members dim1, dim2, ...
template <class T>
void put_each(nlohmann::ordered_json& to, const char* field, const std::vector<T>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    to[fmt::format("{}{}", field, i + 1)] = json_of(values[i]);
  }
}

}  // namespace espalier
