#include "sims/text/table_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

TableChecks::TableChecks(const TableSpec& spec, Diagnostics& diagnostics)
    : spec_(spec), diagnostics_(diagnostics), columns_(cells_of(spec.header, {})) {}

bool TableChecks::check_columns(const TableCells& header) {
  for (std::size_t c = 0; c < std::max(header.size(), columns_.size()); ++c) {
    const bool both = c < header.size() && c < columns_.size();
    if (both && header[c].text == columns_[c].text) continue;
    diagnostics_.error(header[std::min(c, header.size() - 1)].place,
                       c < columns_.size()
                           ? fmt::format("expected column '{}' here", columns_[c].text)
                           : fmt::format("found {} columns", header.size()),
                       fmt::format("the first line must be {}", spec_.header));
    return false;
  }
  return true;
}

bool TableChecks::check_count(const TableCells& row, std::size_t optional) {
  const std::size_t most = columns_.size() + optional;
  if (row.size() < columns_.size()) return check_text(row, row.size());
  if (row.size() <= most) return true;
  diagnostics_.error(row[most].place,
                     fmt::format("found {} values for {} columns", row.size(), most),
                     spec_.example);
  return false;
}

bool TableChecks::check_texts(const TableCells& row) {
  std::size_t column = 0;
  while (column < columns_.size() && check_text(row, column)) ++column;
  return column == columns_.size();
}

bool TableChecks::check_text(const TableCells& row, std::size_t column) {
  if (column < row.size() && !row[column].text.empty()) return true;
  diagnostics_.error(column < row.size() ? row[column].place : end_of(row.back()),
                     fmt::format("no value for '{}'", columns_[column].text), spec_.example);
  return false;
}

void TableChecks::report_no_rows(const Place& header) {
  if (header.line != 0) {
    diagnostics_.error(header, fmt::format("the file has no {}s after the header", spec_.row),
                       spec_.example);
    return;
  }
  diagnostics_.error({header.source, 1, 1}, "the file is empty",
                     fmt::format("write the line {}, then one line for each {}, {}", spec_.header,
                                 spec_.row, spec_.example));
}

}  // namespace espalier
