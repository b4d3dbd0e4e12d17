#include "sims/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sims/text/nearest_name.h"

namespace espalier {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr Wide kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostDigits = 19;  // any number of this many digits fits into 64 bits

struct QuantityForm {
  const char* noun;
  const char* base_unit;
  const char* example;
  std::vector<Unit> units;
};

const QuantityForm& form_of(Quantity quantity) {
  // In the order of Quantity.
  static const std::array<QuantityForm, 6> forms{{
      {"time",
       "picoseconds",
       "150ns",
       {{"ps", 1},
        {"ns", 1'000},
        {"us", 1'000'000},
        {"ms", 1'000'000'000},
        {"s", 1'000'000'000'000}}},
      {"bandwidth",
       "bytes per second",
       "16GB/s",
       {{"B/s", 1},
        {"kB/s", 1'000},
        {"Mb/s", 125'000},
        {"MB/s", 1'000'000},
        {"MiB/s", 1U << 20U},
        {"Gb/s", 125'000'000},
        {"GB/s", 1'000'000'000},
        {"GiB/s", 1U << 30U},
        {"Tb/s", 125'000'000'000},
        {"TB/s", 1'000'000'000'000}}},
      {"frequency",
       "hertz",
       "1GHz",
       {{"Hz", 1}, {"kHz", 1'000}, {"MHz", 1'000'000}, {"GHz", 1'000'000'000}}},
      {"size",
       "bytes",
       "16MiB",
       {{"B", 1},
        {"kB", 1'000},
        {"KiB", 1U << 10U},
        {"MB", 1'000'000},
        {"MiB", 1U << 20U},
        {"GB", 1'000'000'000},
        {"GiB", 1U << 30U}}},
      {"length", "nanometres", "45nm", {{"nm", 1}, {"um", 1'000}}},
      {"waiting time",
       "milliseconds",
       "10min",
       {{"ms", 1}, {"s", 1'000}, {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}},
  }};
  return forms.at(static_cast<std::size_t>(quantity));
}

std::vector<std::string> unit_names(Quantity quantity) {
  std::vector<std::string> names;
  for (const Unit& unit : units_of(quantity)) names.push_back(unit.name);
  return names;
}

std::string example_hint(Quantity quantity) {
  return fmt::format("for example {}; units: {}", form_of(quantity).example,
                     fmt::join(unit_names(quantity), " "));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t skip_digits(const std::string& text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

ParsedQuantity failure(std::string error, std::string hint) {
  return {std::nullopt, std::move(error), std::move(hint)};
}

}  // namespace

const std::vector<Unit>& units_of(Quantity quantity) { return form_of(quantity).units; }

ParsedQuantity parse_quantity(Quantity quantity, const std::string& text) {
  if (!text.empty() && text[0] == '-') {
    return failure(fmt::format("'{}' is negative", text), example_hint(quantity));
  }
  const std::size_t whole_end = skip_digits(text, 0);
  std::size_t number_end = whole_end;
  if (whole_end < text.size() && text[whole_end] == '.') {
    number_end = skip_digits(text, whole_end + 1);
    if (number_end == whole_end + 1) number_end = 0;
  }
  if (whole_end == 0 || number_end == 0) {
    return failure(fmt::format("'{}' is not a number with a unit", text), example_hint(quantity));
  }
  if (whole_end > 1 && text[0] == '0') {
    return failure(fmt::format("'{}' has a leading zero", text), example_hint(quantity));
  }

  std::size_t unit_begin = number_end;
  while (unit_begin < text.size() && text[unit_begin] == ' ') ++unit_begin;
  const std::string unit_name = text.substr(unit_begin);
  if (unit_name.empty()) {
    return failure(fmt::format("'{}' has no unit", text), example_hint(quantity));
  }
  const bool exponent = (unit_name[0] == 'e' || unit_name[0] == 'E') && unit_name.size() > 1 &&
                        (is_digit(unit_name[1]) || unit_name[1] == '+' || unit_name[1] == '-');
  if (exponent || unit_name[0] == '_' || unit_name[0] == ',' || unit_name[0] == '.') {
    return failure(
        fmt::format("'{}' is not a plain decimal number (no exponent, no digit separators)", text),
        example_hint(quantity));
  }
  const auto& units = units_of(quantity);
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit_name; });
  if (unit == units.end()) {
    const std::string nearest = nearest_name(unit_name, unit_names(quantity));
    return failure(fmt::format("'{}' is not a unit of {}", unit_name, form_of(quantity).noun),
                   nearest.empty()
                       ? example_hint(quantity)
                       : fmt::format("did you mean {}{}? units: {}", text.substr(0, number_end),
                                     nearest, fmt::join(unit_names(quantity), " ")));
  }

  std::string fraction =
      number_end > whole_end ? text.substr(whole_end + 1, number_end - whole_end - 1) : "";
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  const std::string digits = text.substr(0, whole_end) + fraction;
  const std::size_t leading = std::min(digits.find_first_not_of('0'), digits.size());
  if (digits.size() - leading > kMostDigits) {
    return failure(fmt::format("'{}' has too many digits", text), example_hint(quantity));
  }
  Wide value = 0;
  for (const char c : digits) value = value * 10 + static_cast<unsigned>(c - '0');
  value *= unit->factor;  // below 2^64 * 2^40
  for (std::size_t i = 0; i < fraction.size() && value != 0; ++i) {
    if (value % 10 != 0) {
      return failure(
          fmt::format("'{}' is not a whole number of {}", text, form_of(quantity).base_unit),
          example_hint(quantity));
    }
    value /= 10;
  }
  if (value > kLargest) {
    return failure(fmt::format("'{}' is too large", text), example_hint(quantity));
  }
  return {static_cast<std::uint64_t>(value), {}, {}};
}

std::string format_quantity(Quantity quantity, std::uint64_t value, const char* gap) {
  const auto& units = units_of(quantity);
  if (value == 0) return "0" + (gap + units.front().name);
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    // Bits per second are accepted as input, as in network data sheets, but output is in bytes.
    const bool bits = quantity == Quantity::rate && unit.name[1] == 'b';
    if (!bits && value % unit.factor == 0) best = &unit;
  }
  return fmt::format("{}{}{}", value / best->factor, gap, best->name);
}

}  // namespace espalier
