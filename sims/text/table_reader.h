// Reads tables of comma-separated values: a header, then a row in each line. A format derives from
// TableReader and adds its columns and its row.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/text/text_lines.h"

namespace espalier {

using TableCells = std::vector<ConfigNode>;

struct TableSpec {
  const char* header;   // names the columns; errors show it as the first line
  const char* row;      // the word for a row; an s makes it a plural
  const char* example;  // a hint with a valid row
  // Splits a line into cells. A line without cells is ignored.
  TableCells (*split)(std::string_view line, const Place& line_start) = cells_of;
};

// The part that does not depend on the type of a row. Each check reports the first mistake.
class TableChecks {
 protected:
  TableChecks(const TableSpec& spec, Diagnostics& diagnostics);

  // The header has the columns of the format in their order, and no others.
  bool check_columns(const TableCells& header);
  // The row has a cell for each column, and at most `optional` more.
  bool check_count(const TableCells& row, std::size_t optional = 0);
  // The row has a text in each column.
  bool check_texts(const TableCells& row);
  // The row has a text in the column.
  bool check_text(const TableCells& row, std::size_t column);

  void report_no_rows(const Place& header);

  const TableSpec spec_;
  Diagnostics& diagnostics_;

 private:
  TableCells columns_;
};

template <class Row>
class TableReader : protected TableChecks {
 public:
  using TableChecks::TableChecks;
  virtual ~TableReader() = default;

  // The rows in the order of the lines; nullopt after an error. A table without rows is an error.
  // Blank lines and lines that start with '#' are ignored.
  [[nodiscard]] std::optional<std::vector<Row>> read(const std::string& file_name,
                                                     const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    Place header{source, 0, 1};  // line 0: not yet seen
    std::vector<Row> rows;
    for_each_line(text, source, diagnostics_, [&](std::string_view line, const Place& place) {
      const TableCells cells = spec_.split(line, place);
      if (cells.empty() || cells.front().text.rfind('#', 0) == 0) return true;
      if (cells.size() == 1 && cells.front().text.empty()) return true;
      if (header.line == 0) {
        header.line = place.line;
        return read_header(cells);
      }
      if (std::optional<Row> row = read_row(cells)) rows.push_back(*std::move(row));
      return true;
    });
    if (diagnostics_.num_errors() == errors_before && rows.empty()) report_no_rows(header);
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    return rows;
  }

 private:
  // Returns false for a wrong header. Then no row is read: the file may be anything, and its lines
  // would only give more errors.
  virtual bool read_header(const TableCells& header) { return check_columns(header); }
  // Returns nullopt for a row with an error, which is reported, and for a row that is left out.
  virtual std::optional<Row> read_row(const TableCells& row) = 0;
};

}  // namespace espalier
