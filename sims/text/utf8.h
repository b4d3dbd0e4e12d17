// The little that the configuration layer needs to know about UTF-8.
#pragma once

#include <cstddef>
#include <string>

namespace espalier {

// Bytes of the well-formed character that starts at `at`; 0 where none does (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] std::size_t utf8_length(const std::string& text, std::size_t at);

[[nodiscard]] bool is_utf8(const std::string& text);

// UTF-8 without control characters: text that may be shown and written as it stands.
[[nodiscard]] bool is_plain_text(const std::string& text);

[[nodiscard]] constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace espalier
