// Converts physical quantities between text and whole base units. Exact: no floating point is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

enum class Quantity : std::uint8_t {
  time,       // picoseconds
  rate,       // bytes per second
  frequency,  // hertz
  size,       // bytes
  length,     // nanometres
  duration,   // milliseconds of real time
};

struct Unit {
  std::string name;
  std::uint64_t factor = 1;  // in base units
};

// In ascending order.
[[nodiscard]] const std::vector<Unit>& units_of(Quantity quantity);

struct ParsedQuantity {
  std::optional<std::uint64_t> value;
  std::string error;  // set if there is no value
  std::string hint;
};

// "150ns", "1.5GHz", "64 MiB". A number without its unit is an error, and so is a value that is not
// a whole number of base units ("0.5B").
[[nodiscard]] ParsedQuantity parse_quantity(Quantity quantity, const std::string& text);

// The shortest whole number with a unit; reads back to the same value. `gap`: a space for people.
[[nodiscard]] std::string format_quantity(Quantity quantity, std::uint64_t value,
                                          const char* gap = "");

}  // namespace espalier
