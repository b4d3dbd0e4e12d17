// Text files of ours that are no YAML, line by line, with the place of everything.
#pragma once

#include <string_view>
#include <vector>

#include "sims/text/config_node.h"

namespace espalier {

inline constexpr const char* kBlanks = " \t\r";

// A line cut at the commas, blanks around the cells cut off. A cell's place is that of its first
// character; an empty one's that of the comma behind it.
[[nodiscard]] std::vector<ConfigNode> cells_of(std::string_view line, const Place& line_start);

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
