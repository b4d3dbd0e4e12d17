// Splits text files into lines of cells or words with their places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/utf8.h"

namespace espalier {

inline constexpr const char* kBlanks = " \t\r";

// The cells between the commas of a line, without surrounding blanks. A cell's place is its first
// character; the place of an empty cell is the comma after it.
[[nodiscard]] std::vector<ConfigNode> cells_of(std::string_view line, const Place& line_start);

// The words between the blanks of a line. Each character of `marks` is a word by itself.
[[nodiscard]] std::vector<ConfigNode> words_of(std::string_view line, const Place& line_start,
                                               std::string_view marks = {});

// The rows of table `name` that is part of the program: `cells` cells between '|', without
// surrounding blanks. Blank lines and lines that start with '#' are no rows. Throws
// std::logic_error, with the line, if a row has another number of cells.
[[nodiscard]] std::vector<std::vector<std::string>> table_rows(std::string_view table,
                                                               const char* name, std::size_t cells);

[[nodiscard]] std::string in_lower_case(std::string text);  // letters of ASCII

// The place after the end of a cell or a word.
[[nodiscard]] Place end_of(const ConfigNode& cell);

// Reports the byte at which the text begins: it is not UTF-8, or a control character.
void report_unplain(std::string_view text, const Place& place, Diagnostics& diagnostics);

// Calls visit(line, place of its beginning) for each line, without its line end, until it returns
// false. Lines end in LF or CRLF. A lone CR is an error, because readers disagree on whether it
// ends a line; so are bytes that are not UTF-8, which results in JSON cannot contain, and control
// characters, which a terminal would obey.
template <class Visit>
void for_each_line(std::string_view text, SourceIndex source, Diagnostics& diagnostics,
                   Visit&& visit) {
  Place place{source, 1, 1};
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
    place.column += static_cast<std::uint32_t>(kByteOrderMark.size());
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (const std::size_t at = first_unplain(line, "\t"); at != line.size()) {
      place.column += static_cast<std::uint32_t>(at);
      report_unplain(line.substr(at), place, diagnostics);
      return;
    }
    if (!visit(line, place)) return;
    text.remove_prefix(end < text.size() ? end + 1 : end);
    ++place.line;
    place.column = 1;
  }
}

}  // namespace espalier
