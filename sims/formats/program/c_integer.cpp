#include "sims/formats/program/c_integer.h"

#include <limits>

namespace espalier {

namespace {

// 99 for what is no digit in any base.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
}

CInteger failed(const char* why) { return {std::nullopt, why}; }

}  // namespace

CInteger parse_c_integer(std::string_view text) {
  if (text.empty()) return failed("is empty, not an integer");
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) {
    return failed("is not an integer: it holds a blank");
  }
  std::string_view digits = text;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  unsigned base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const bool is_hex = digits[1] == 'x' || digits[1] == 'X';
    base = is_hex ? 16 : 8;
    digits.remove_prefix(is_hex ? 2 : 1);
  }
  if (digits.empty()) return failed("is not an integer");
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t magnitude = 0;
  bool overflows = false;
  for (const char c : digits) {
    const unsigned digit = digit_value(c);
    if (digit >= base) {
      return failed(base == 8 && digit < 10
                        ? "is not an integer: a leading zero makes it octal, as in C"
                        : "is not an integer");
    }
    overflows = overflows || magnitude > (largest - digit) / base;
    if (!overflows) magnitude = magnitude * base + digit;
  }
  if (overflows) return failed("is out of range");
  const auto value = static_cast<std::int64_t>(magnitude);
  return {negative ? -value : value, {}};
}

}  // namespace espalier
