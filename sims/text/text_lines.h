// Text files of ours that are no YAML, line by line, with the place of everything.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/text/config_node.h"

namespace espalier {

inline constexpr const char* kBlanks = " \t\r";

// A line cut at the commas, blanks around the cells cut off. A cell's place is that of its first
// character; an empty one's that of the comma behind it.
[[nodiscard]] inline std::vector<ConfigNode> cells_of(std::string_view line,
                                                      const Place& line_start) {
  std::vector<ConfigNode> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    const std::size_t first = std::min(line.find_first_not_of(kBlanks, begin), end);
    const std::size_t last = line.substr(0, end).find_last_not_of(kBlanks);
    ConfigNode cell;
    cell.kind = ConfigNode::Kind::scalar;
    cell.place = line_start;
    cell.place.column += static_cast<std::uint32_t>(first);
    if (first < end) cell.text = line.substr(first, last + 1 - first);
    cells.push_back(std::move(cell));
    begin = end + 1;
  }
  return cells;
}

// Calls visit(line, place of its beginning) for each line, without its end, until it returns false.
template <class Visit>
void for_each_line(std::string_view text, SourceIndex source, Visit&& visit) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  Place place{source, 1, 1};
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
    place.column += static_cast<std::uint32_t>(kByteOrderMark.size());
  }
  while (!text.empty()) {
    const std::size_t end = text.find('\n') < text.size() ? text.find('\n') : text.size();
    if (!visit(text.substr(0, end), place)) return;
    text.remove_prefix(end < text.size() ? end + 1 : end);
    ++place.line;
    place.column = 1;
  }
}

}  // namespace espalier
