// What a single key accepts, and its value in model units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sims/config/config_node.h"
#include "sims/config/diagnostics.h"
#include "sims/config/units.h"

namespace espalier {

enum class ValueType : std::uint8_t {
  name,  // one of `names`
  text,  // any text: a path
  boolean,
  integer,
  fraction,  // a decimal number
  dims,      // a list of 1 to 3 integers
  size,      // with a unit from here on, see units.h
  time,
  rate,
  frequency,
  length,
};

struct ValueShape {
  ValueType type = ValueType::integer;
  // A list of such values, one for each dimension; zero_word stands for the whole list, too.
  bool per_dimension = false;
  std::vector<std::string> names;  // name
  std::uint64_t min = 0;           // integer, each of dims, quantities in base units
  std::uint64_t max = 0;
  double min_fraction =
      0.0;  // fraction: min and max themselves are excluded where the flag says so
  double max_fraction = 1.0;
  bool min_excluded = false;
  bool max_excluded = false;
  std::string zero_word;  // a word that is written instead of a number and becomes 0 ("auto"),
  std::uint64_t word_number = 0;  // or this, where 0 has a meaning of its own
};

struct Value {
  std::uint64_t number = 0;  // name: index; boolean: 0 or 1; integer; quantities in base units
  double fraction = 0.0;
  std::string text;
  std::vector<std::uint32_t> dims;
  std::vector<std::uint64_t> items;  // per_dimension: each as `number`; empty: the zero_word
};
[[nodiscard]] bool operator==(const Value& a, const Value& b);

// The value is the shape's zero_word.
[[nodiscard]] bool is_word(const Value& value, const ValueShape& shape);

// Records an error that starts with `key` where the node is no such value.
[[nodiscard]] std::optional<Value> parse_value(const ConfigNode& node, const std::string& key,
                                               const ValueShape& shape, Diagnostics& diagnostics);

// What is one value of the key is written as a list.
[[nodiscard]] inline bool is_written_as_list(const ValueShape& shape) {
  return shape.type == ValueType::dims || shape.per_dimension;
}

inline constexpr std::size_t kMostDimensions = 16;

// Of values with a unit.
[[nodiscard]] std::optional<Quantity> quantity_of(ValueType type);

// As it is written in a file; reads back to the same value.
[[nodiscard]] std::string format_value(const Value& value, const ValueShape& shape);
// The entries of a list of them. Precondition: shape.per_dimension.
[[nodiscard]] std::vector<std::string> format_items(const Value& value, const ValueShape& shape);
// Shortest decimal without an exponent.
[[nodiscard]] std::string format_fraction(double value);

// "integer, 1 to 32, or auto": for the schema and for hints.
[[nodiscard]] std::string describe(const ValueShape& shape);

}  // namespace espalier
