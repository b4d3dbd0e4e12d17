#include "sims/experiment/axis_numbers.h"

#include <nlohmann/json.hpp>

#include "sims/config/keys.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace espalier
