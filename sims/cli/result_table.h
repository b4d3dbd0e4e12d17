// The table of results that `run` prints.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace espalier {

using ResultText = std::function<std::string(const nlohmann::ordered_json&)>;

struct ResultColumn {
  std::string title;
  bool always;  // show the column even if all rows have the same value
  ResultText text;
};

// The columns of a table in columns.txt. `results`: its rows, which must outlive the columns.
[[nodiscard]] std::vector<ResultColumn> columns_of(
    const std::string& table, const std::vector<nlohmann::ordered_json>& results);
// The settings of a collective beside its algorithm and size. Only columns whose values vary are
// shown.
[[nodiscard]] std::vector<ResultColumn> variant_columns();
// Lines with aligned columns that fit the terminal, one row for each result. Precondition:
// `results` is not empty.
[[nodiscard]] std::string table_text(const std::vector<ResultColumn>& columns,
                                     const std::vector<nlohmann::ordered_json>& results);
// Lines below a table: what the energy leaves out, and clocks that cannot be reached.
[[nodiscard]] std::string table_notes(const std::vector<nlohmann::ordered_json>& results);
// "12.3"; "-" if the result has no such number. `field`: its dotted name.
[[nodiscard]] std::string fixed(const nlohmann::ordered_json& result, const std::string& field,
                                int digits, double factor = 1);
// The same as a column's text; a share as "12.3 %".
[[nodiscard]] ResultText number_text(const std::string& field, int digits, double factor = 1);
[[nodiscard]] ResultText percent_text(const std::string& field);
// "16 MiB"
[[nodiscard]] std::string size_text(const nlohmann::ordered_json& result);

// One row for each result. Columns with one value in all rows are left out, except for the most
// important ones. The last columns compare the time with the bound, and the speed with the first
// row of the same size.
[[nodiscard]] std::string result_table(const std::vector<nlohmann::ordered_json>& results);

}  // namespace espalier
