// Integers as C reads them with base 0: 12, 0x1f, 017; but the whole of the text or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

struct CInteger {
  std::optional<std::int64_t> value;
  std::string error;  // where there is no value: what is wrong, behind the text in quotes
};

// A sign, then digits; no blanks.
[[nodiscard]] CInteger parse_c_integer(std::string_view text);

}  // namespace espalier
