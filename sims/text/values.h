// The accepted values of a single key, and a value in model units.
#pragma once

#include <array>
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
  text,  // a path; zero_word and `names` are words that are not paths
  boolean,
  integer,
  fraction,  // a decimal number
  vertex,    // a node's number or a vertex's name, kept as text
  label,     // a line of text for people
  part,      // of a network: "node 5", "switch sp_0", "link 3-4", kept as text
  record,  // a mapping of `fields`; not in a list: of fields with dotted names, which a file nests
  size,    // this type and those below have a unit, see units.h
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
  // name: a value with one of these endings (".xml") is a file; it stands for the name
  // `names[file_name]`, and Value::text has its path.
  std::vector<std::string> file_endings;
  std::uint64_t file_name = 0;
  std::string file_key;  // name: the key that takes a file in the place of a name
  // name: a name that people expect, why there is none, and what to write instead.
  std::array<const char*, 3> missing{"", "", ""};
  // name: in place of a list, the word for all names but names[file_name] and not_in_all.
  std::string all_word;
  std::vector<std::string> not_in_all;
  // record; if the first field is a list, the list alone may stand for a mapping.
  std::vector<ValueField> fields;
  // integer: the number of a node, or a name that find_vertex() knows. Value::text, or for a list
  // Value::texts, has the name until the network is known, and the number is 0 until then.
  bool is_node = false;
  std::uint64_t min = 0;  // integer, quantities in base units
  std::uint64_t max = 0;
  // fraction: min_excluded and max_excluded exclude the bounds themselves.
  double min_fraction = 0.0;
  double max_fraction = 1.0;
  bool min_excluded = false;
  bool max_excluded = false;
  std::string zero_word;          // a word that may replace a number and means 0 ("auto")
  std::uint64_t word_number = 0;  // or this number, if 0 has a meaning of its own
};

// An integer, or a quantity in base units, from `min` to `max`.
[[nodiscard]] ValueShape range_shape(std::uint64_t min, std::uint64_t max,
                                     ValueType type = ValueType::integer);

// An optional field that is not given has the value Value{}, which no given field can have.
struct ValueField {
  std::string name;
  ValueShape shape;
  bool required = false;
  std::string meaning;  // for the JSON schema
};

struct Value {
  std::uint64_t number = 0;  // name: index; boolean: 0 or 1; integer; quantities in base units
  double fraction = 0.0;
  std::string text;
  // The values of a list, each as `number`; empty: zero_word was given.
  std::vector<std::uint64_t> items;
  std::vector<std::string> texts;  // of a list of parts
  // Values by record and field. A mapping outside of a list is one record, or none if it has no
  // field.
  std::vector<std::vector<Value>> records;
};
[[nodiscard]] bool operator==(const Value& a, const Value& b);
[[nodiscard]] inline Value number_value(std::uint64_t number) {
  Value value;
  value.number = number;
  return value;
}

// True if the value is the shape's zero_word.
[[nodiscard]] bool is_word(const Value& value, const ValueShape& shape);

// The names of a mapping's fields and groups of fields directly in `group` ("" for all).
[[nodiscard]] std::vector<std::string> names_in_group(const std::vector<ValueField>& fields,
                                                      const std::string& group);

// True if the text given for the key names a file.
[[nodiscard]] bool is_path(const std::string& text, const ValueShape& shape);

// Records an error that starts with `key` if the node is not a valid value.
[[nodiscard]] std::optional<Value> parse_value(const ConfigNode& node, const std::string& key,
                                               const ValueShape& shape, Diagnostics& diagnostics);

// True if a single value of the key is written as a list.
[[nodiscard]] inline bool is_written_as_list(const ValueShape& shape) {
  return shape.list != ListOf::nothing;
}

// The shape of one entry of a list.
[[nodiscard]] ValueShape entry_shape(const ValueShape& list);

inline constexpr std::size_t kMostDimensions = 16;
// The most entries of a list of any number.
inline constexpr std::size_t kMostListed = 65536;

// The quantity of a type with a unit; none for other types.
[[nodiscard]] std::optional<Quantity> quantity_of(ValueType type);

// The value as written in a file; it reads back to the same value. A mapping has dotted names here.
[[nodiscard]] std::string format_value(const Value& value, const ValueShape& shape);
// The same for each entry of a list.
[[nodiscard]] std::vector<std::string> format_items(const Value& value, const ValueShape& shape);
// The shortest decimal without an exponent.
[[nodiscard]] std::string format_fraction(double value);

// A text for the schema and for hints, e.g. "integer, 1 to 32, or auto".
[[nodiscard]] std::string describe(const ValueShape& shape);

}  // namespace espalier
