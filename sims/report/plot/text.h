// Words and numbers as a page shows them.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::report {

// For text and attribute values of HTML and SVG. What no document may hold (control characters,
// bytes that are not UTF-8) becomes U+FFFD.
[[nodiscard]] std::string escape(const std::string& text);

// Four significant digits, or all before the point; without an exponent where people read it:
// "0.5", "12.35", "36320", "1.5e+12".
[[nodiscard]] std::string number_text(double value);
// A length or place in a picture: at most two decimals.
[[nodiscard]] std::string coordinate_text(double value);
// "64 KiB", "100 MB", "6001 B": the largest unit of which they are a multiple, binary ones first.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
// "88.9 %" of 0.889.
[[nodiscard]] std::string percent_text(double part);
// "1 run", "3 runs".
[[nodiscard]] std::string count_text(std::size_t count, const std::string& singular);

}  // namespace espalier::report
