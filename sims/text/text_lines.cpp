#include "sims/text/text_lines.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace espalier {

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::vector<ConfigNode> cells_of(std::string_view line, const Place& line_start) {
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

std::vector<ConfigNode> words_of(std::string_view line, const Place& line_start,
                                 std::string_view marks) {
  const std::string separators = kBlanks + std::string(marks);
  std::vector<ConfigNode> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at < line.size();) {
    const bool is_mark = marks.find(line[at]) != std::string_view::npos;
    const std::size_t end =
        is_mark ? at + 1 : std::min(line.find_first_of(separators, at), line.size());
    ConfigNode word;
    word.kind = ConfigNode::Kind::scalar;
    word.place = line_start;
    word.place.column += static_cast<std::uint32_t>(at);
    word.text = line.substr(at, end - at);
    words.push_back(std::move(word));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<std::vector<std::string>> table_rows(std::string_view table, const char* name,
                                                 std::size_t cells) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines{std::string(table)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(kBlanks) == std::string::npos || line.front() == '#') continue;
    const auto bars = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
    if (bars + 1 != cells) {
      throw std::logic_error(
          fmt::format("{}:{}: expected {} cells, not {}", name, number, cells, bars + 1));
    }
    std::istringstream parts(line + ' ');
    rows.emplace_back();
    for (std::string cell; std::getline(parts, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(' ');
      const std::size_t end = cell.find_last_not_of(' ') + 1;
      rows.back().push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin));
    }
  }
  return rows;
}

void report_unplain(std::string_view text, const Place& place, Diagnostics& diagnostics) {
  if (utf8_length(text, 0) == 0) {
    diagnostics.error(place, "this is not UTF-8 text", "save the file as UTF-8");
  } else if (text.front() == '\r') {
    diagnostics.error(place, "a carriage return (0x0d) without a line feed",
                      "end each line with LF or CRLF");
  } else {
    diagnostics.error(place,
                      fmt::format("the text contains a control character (0x{:02x})",
                                  code_point(text.substr(0, utf8_length(text, 0)))),
                      text.front() == '\0' ? "is this a text file, saved as UTF-8?" : "remove it");
  }
}

Place end_of(const ConfigNode& cell) {
  Place end = cell.place;
  end.column += static_cast<std::uint32_t>(cell.text.size());
  return end;
}

}  // namespace espalier
