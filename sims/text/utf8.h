// The few UTF-8 functions that the configuration layer needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

// In front of a text, it only says that the text is UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The length in bytes of the well-formed character that starts at `at`; 0 if there is none (RFC
// 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at);

[[nodiscard]] bool is_utf8(std::string_view text);

// Precondition: one well-formed character.
[[nodiscard]] std::uint32_t code_point(std::string_view character);

// The first byte that is neither part of a well-formed character nor in `kept`, or begins a
// character that a terminal obeys in place of showing it: a control character (U+0000 to U+001F,
// U+007F to U+009F), or one that changes the order of letters or hides, such as U+202E.
// Returns text.size() if there is none.
[[nodiscard]] std::size_t first_unplain(std::string_view text, std::string_view kept = {});
// True for UTF-8 without such characters: such text can be shown and written unchanged.
[[nodiscard]] bool is_plain_text(std::string_view text);
// The text with '?' in the place of such characters and of broken UTF-8.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = "\t");

}  // namespace espalier
