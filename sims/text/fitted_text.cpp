#include "sims/text/fitted_text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace espalier {

namespace {

constexpr std::size_t kGap = 2;

using Lines = std::vector<std::string>;

struct Column {
  std::vector<Lines> cells;  // the first one is the title
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

// The words of the text in lines of at most `width` letters. A longer word is cut.
Lines broken(const std::string& text, std::size_t width) {
  Lines lines;
  for (std::string word : words_in(text)) {
    if (!lines.empty() && !is_longer(lines.back() + " " + word, width)) {
      lines.back() += " " + word;
      continue;
    }
    for (; is_longer(word, width); word.erase(0, bytes_of(word, width))) {
      lines.push_back(word.substr(0, bytes_of(word, width)));
    }
    lines.push_back(word);
  }
  return lines;
}

void measure(Column& column) {
  column.width = 0;
  for (const Lines& cell : column.cells) {
    for (const std::string& line : cell) {
      while (is_longer(line, column.width)) ++column.width;
    }
  }
}

// Whether the first cell that is given is a number, perhaps with words: "3 of 8", and no sentence.
bool has_numbers(const std::vector<Lines>& cells) {
  constexpr std::ptrdiff_t kMostWords = 3;
  const auto given = std::find_if(cells.begin() + 1, cells.end(),
                                  [](const Lines& cell) { return cell.front() != "-"; });
  return given == cells.end() ||
         (given->front().find_first_of("0123456789-+>") == 0 &&
          std::count(given->front().begin(), given->front().end(), ' ') < kMostWords);
}

std::vector<Column> columns_in(const std::vector<std::vector<std::string>>& lines) {
  std::vector<Column> columns(lines.front().size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const auto& line : lines) columns[c].cells.push_back({line[c]});
    columns[c].is_number = c != 0 && has_numbers(columns[c].cells);
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
  std::string text;
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    std::size_t height = 1;
    for (const Column& column : columns) height = std::max(height, column.cells[row].size());
    for (std::size_t l = 0; l < height; ++l) {
      std::string line = indent;
      for (const Column& column : columns) {
        const Lines& cell = column.cells[row];
        // Short titles stand in the last of the titles' lines.
        const std::size_t above = row == 0 ? height - cell.size() : 0;
        const std::string part = l >= above && l - above < cell.size() ? cell[l - above] : "";
        line += column.is_number ? fmt::format("{:>{}}", part, column.width)
                                 : fmt::format("{:<{}}", part, column.width);
        line += std::string(kGap, ' ');
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

// Takes the column with which each part of a table begins out of `columns`: the first one, or the
// number of the row where the first column is the same in two rows or leaves no room.
Column key_column(std::vector<Column>& columns, std::size_t room) {
  std::size_t widest = 0;
  for (auto c = columns.begin() + 1; c != columns.end(); ++c) widest = std::max(widest, c->width);
  Column key = columns.front();
  const std::set<Lines> names(key.cells.begin(), key.cells.end());
  if (names.size() == key.cells.size() && key.width + kGap + widest <= room) {
    columns.erase(columns.begin());
    return key;
  }
  for (std::size_t row = 1; row < key.cells.size(); ++row) key.cells[row] = {std::to_string(row)};
  key.cells[0] = {"row"};
  measure(key);
  return key;
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : kAnyWidth;
}

std::string fitted_table(const std::vector<std::vector<std::string>>& lines, std::size_t width,
                         const std::string& indent) {
  std::vector<Column> columns = columns_in(lines);
  const std::size_t room = width - std::min(width, indent.size());
  if (width == kAnyWidth || width_of(columns) <= room) return text_of(columns, indent);
  for (Column& column : columns) {
    column.cells.front() = words_in(column.cells.front().front());
    measure(column);
  }
  if (width_of(columns) <= room) return text_of(columns, indent);
  const Column key = key_column(columns, room);
  std::string text;
  std::vector<Column> part{key};
  for (Column& column : columns) {
    constexpr std::size_t kLeast = 8;
    const std::size_t most = std::max(room - std::min(room, key.width + kGap), kLeast);
    if (column.width > most) {
      for (Lines& cell : column.cells) cell = broken(fmt::format("{}", fmt::join(cell, " ")), most);
      measure(column);
    }
    part.push_back(column);
    if (width_of(part) <= room || part.size() == 2) continue;
    part.pop_back();
    text += text_of(part, indent) + "\n";
    part = {key, column};
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
  if (!fitted.empty() && text.back() != '\n') fitted.pop_back();
  return fitted;
}

}  // namespace espalier
