// Text for people in a terminal of some columns: tables whose columns stand below each other where
// they do not fit beside each other, and lines that end between words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace espalier {

inline constexpr std::size_t kAnyWidth = 0;
// The columns of the terminal that stdout is; kAnyWidth if it is no terminal.
[[nodiscard]] std::size_t terminal_width();

// Aligns the cells of `lines`, whose first one has the titles. Names stand to the left, numbers to
// the right; the first row says which they are. `indent` begins each line. A table wider than
// `width` has titles of several lines; one that is still wider is cut into tables of some columns
// that all begin with the first column, or with the number of the row if the first column does not
// tell rows apart or leaves no room. A cell wider than `width` has several lines.
[[nodiscard]] std::string fitted_table(const std::vector<std::vector<std::string>>& lines,
                                       std::size_t width, const std::string& indent = "");

// Breaks lines longer than `width` between words. What follows a break is indented further.
[[nodiscard]] std::string fitted_lines(const std::string& text, std::size_t width);

}  // namespace espalier
