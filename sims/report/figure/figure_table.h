// The values that a figure draws, from the results of its points.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/report/figure/figure.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct FigureRow {
  std::size_t panel = 0;
  std::size_t series = 0;    // of the panel
  std::size_t part = 0;      // of the panel's y
  nlohmann::ordered_json x;  // number or text
  double y = 0.0;            // normalised, times the axis' factor
  double y_from = 0.0;       // the end of the parts below
  const nlohmann::ordered_json* result = nullptr;
};

// Reports fields that the panel names and the result lacks, or has as something else than a number.
void check_fields(const Panel& panel, const nlohmann::ordered_json& result,
                  Diagnostics& diagnostics);

// The result of panel p's point i; nullptr if the point failed and is not drawn.
using ResultOf = std::function<const nlohmann::ordered_json*(std::size_t p, std::size_t i)>;

// Rows panel by panel and series by series; lines ascend in x, bars have the file's order. Reports
// points that share an x, and a normalisation to a point that the figure lacks. Precondition:
// check_fields found nothing.
[[nodiscard]] std::vector<FigureRow> figure_rows(const Figure& figure, const ResultOf& result_of,
                                                 Diagnostics& diagnostics);

// The columns are panel, series, part (if bars have several), x, y, y_from (likewise), then all
// fields of the results.
[[nodiscard]] std::string figure_csv(const Figure& figure, const std::vector<FigureRow>& rows);

}  // namespace espalier
