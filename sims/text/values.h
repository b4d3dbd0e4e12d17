// What a single key accepts, and its value in model units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"
#include "sims/text/units.h"

namespace espalier {

enum class ValueType : std::uint8_t {
  name,  // one of `names`
  text,  // a path; zero_word and `names` are words that are none
  boolean,
  integer,
  fraction,  // a decimal number
  vertex,    // a node's number or a vertex's name, kept as text
  record,    // a mapping of `fields`
  size,      // with a unit from here on, see units.h
  time,
  rate,
  frequency,
  length,
};

// Whether one value of a key is a list of values of its type.
enum class ListOf : std::uint8_t {
  nothing,        // one value
  grid,           // 1 to 3 values, the sizes of a grid
  per_dimension,  // one for each dimension; zero_word stands for an entry or for the whole list
  any_number      // zero_word stands for the whole list
};

struct ValueField;

struct ValueShape {
  ValueType type = ValueType::integer;
  ListOf list = ListOf::nothing;
  std::vector<std::string> names;  // name
  std::vector<ValueField> fields;  // record
  std::uint64_t min = 0;           // integer, quantities in base units
  std::uint64_t max = 0;
  double min_fraction =
      0.0;  // fraction: min and max themselves are excluded where the flag says so
  double max_fraction = 1.0;
  bool min_excluded = false;
  bool max_excluded = false;
  std::string zero_word;  // a word that is written instead of a number and becomes 0 ("auto"),
  std::uint64_t word_number = 0;  // or this, where 0 has a meaning of its own
};

// What is not given of a record is Value{}, which no field can be given as.
struct ValueField {
  std::string name;
  ValueShape shape;
  bool required = false;
};

struct Value {
  std::uint64_t number = 0;  // name: index; boolean: 0 or 1; integer; quantities in base units
  double fraction = 0.0;
  std::string text;
  std::vector<std::uint64_t> items;         // of a list: each as `number`; empty: the zero_word
  std::vector<std::vector<Value>> records;  // of a list of records: by record and field
};
[[nodiscard]] bool operator==(const Value& a, const Value& b);
[[nodiscard]] inline Value number_value(std::uint64_t number) {
  Value value;
  value.number = number;
  return value;
}

// The value is the shape's zero_word.
[[nodiscard]] bool is_word(const Value& value, const ValueShape& shape);

// What is written for the key names a file.
[[nodiscard]] bool is_path(const std::string& text, const ValueShape& shape);

// Records an error that starts with `key` where the node is no such value.
[[nodiscard]] std::optional<Value> parse_value(const ConfigNode& node, const std::string& key,
                                               const ValueShape& shape, Diagnostics& diagnostics);

// What is one value of the key is written as a list.
[[nodiscard]] inline bool is_written_as_list(const ValueShape& shape) {
  return shape.list != ListOf::nothing;
}

// Of one entry of a list.
[[nodiscard]] ValueShape entry_shape(const ValueShape& list);

inline constexpr std::size_t kMostDimensions = 16;
// Of a list of any number.
inline constexpr std::size_t kMostListed = 65536;

// Of values with a unit.
[[nodiscard]] std::optional<Quantity> quantity_of(ValueType type);

// As it is written in a file; reads back to the same value.
[[nodiscard]] std::string format_value(const Value& value, const ValueShape& shape);
// The entries of a list of them.
[[nodiscard]] std::vector<std::string> format_items(const Value& value, const ValueShape& shape);
// Shortest decimal without an exponent.
[[nodiscard]] std::string format_fraction(double value);

// Of a vertex that is given as a node's number; none for a name.
[[nodiscard]] std::optional<std::uint32_t> node_number(const std::string& text);

// "integer, 1 to 32, or auto": for the schema and for hints.
[[nodiscard]] std::string describe(const ValueShape& shape);

}  // namespace espalier
