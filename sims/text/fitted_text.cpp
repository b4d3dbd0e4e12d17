#include "sims/text/fitted_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace espalier {

namespace {

constexpr std::size_t kGap = 2;

struct Column {
  std::vector<std::string> title;  // lines
  std::vector<std::string> cells;
  std::size_t width = 0;
  bool is_number = false;
};

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// The bytes of the first `most` characters of UTF-8.
std::size_t bytes_of(const std::string& text, std::size_t most) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    if (begins && most-- == 0) break;
  }
  return at;
}
bool is_longer(const std::string& text, std::size_t width) {
  return bytes_of(text, width) < text.size();
}

void measure(Column& column) {
  column.width = 0;
  for (const auto* texts : {&column.title, &column.cells}) {
    for (const std::string& text : *texts) {
      while (is_longer(text, column.width)) ++column.width;
    }
  }
}

std::vector<Column> columns_in(const std::vector<std::vector<std::string>>& lines) {
  std::vector<Column> columns(lines.front().size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    columns[c].title = {lines.front()[c]};
    for (std::size_t r = 1; r < lines.size(); ++r) columns[c].cells.push_back(lines[r][c]);
    columns[c].is_number =
        c != 0 && lines.size() > 1 && lines[1][c].find_first_of("0123456789-+>") == 0;
    measure(columns[c]);
  }
  return columns;
}

std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t width = 0;
  for (const Column& column : columns) width += column.width + kGap;
  return width - kGap;
}

std::string text_of(const std::vector<Column>& columns, const std::string& indent) {
  std::size_t title_lines = 1;
  for (const Column& column : columns) title_lines = std::max(title_lines, column.title.size());
  std::string text;
  for (std::size_t l = 0; l < title_lines + columns.front().cells.size(); ++l) {
    std::string line = indent;
    for (const Column& column : columns) {
      // Short titles stand in the last of the titles' lines.
      const std::size_t above = title_lines - column.title.size();
      const std::string cell = l >= title_lines ? column.cells[l - title_lines]
                               : l >= above     ? column.title[l - above]
                                                : std::string();
      line += column.is_number ? fmt::format("{:>{}}", cell, column.width)
                               : fmt::format("{:<{}}", cell, column.width);
      line += std::string(kGap, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string fitted_table(const std::vector<std::vector<std::string>>& lines, std::size_t width,
                         const std::string& indent) {
  std::vector<Column> columns = columns_in(lines);
  const std::size_t room = width - std::min(width, indent.size());
  if (width == kAnyWidth || width_of(columns) <= room) return text_of(columns, indent);
  for (Column& column : columns) {
    column.title = words_in(column.title.front());
    measure(column);
  }
  std::string text;
  std::vector<Column> part{columns.front()};
  for (std::size_t c = 1; c < columns.size(); ++c) {
    part.push_back(columns[c]);
    if (width_of(part) <= room || part.size() == 2) continue;
    part.pop_back();
    text += text_of(part, indent) + "\n";
    part = {columns.front(), columns[c]};
  }
  return text + text_of(part, indent);
}

std::string fitted_lines(const std::string& text, std::size_t width) {
  if (width == kAnyWidth) return text;
  std::string fitted;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string indent(std::min(line.find_first_not_of(' '), width / 2) + kGap, ' ');
    std::size_t begin = indent.size() - kGap;
    while (is_longer(line, width)) {
      const std::size_t space = line.rfind(' ', bytes_of(line, width));
      if (space == std::string::npos || space < begin) break;
      fitted += line.substr(0, space) + "\n";
      line = indent + line.substr(line.find_first_not_of(' ', space));
      begin = indent.size();
    }
    fitted += line + "\n";
  }
  return fitted;
}

}  // namespace espalier
