// Texts and numbers as a page shows them.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::report {

// Escapes a text or an attribute value of HTML and SVG. Control characters and bytes that are not
// UTF-8 become U+FFFD.
[[nodiscard]] std::string escape(const std::string& text);

// Four significant digits, or all digits before the point; an exponent from 1e9 on: "0.5", "12.35",
// "36320", "1.5e+12".
[[nodiscard]] std::string number_text(double value);
// A piece of an SVG path with at most two decimals: "M3 4.25".
[[nodiscard]] std::string place_text(const char* command, double x, double y);
// In the largest unit that divides the number, binary units first: "64 KiB", "100 MB", "6001 B".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
// E.g. "88.9 %" for 0.889.
[[nodiscard]] std::string percent_text(double part);
// Appends to a list: "ring", "ring, 64 KiB". An empty word changes nothing.
void add_word(std::string& words, const std::string& word);
// A difference as a part of a value: "0.07 %"; at least "0.01 %".
[[nodiscard]] std::string spread_text(double part);
// E.g. "1 run", "3 runs".
[[nodiscard]] std::string count_text(std::size_t count, const std::string& singular);

}  // namespace espalier::report
