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
  double y_from = 0.0;       // where it starts on the parts below it
  const nlohmann::ordered_json* result = nullptr;
};

// Records fields that the panel names and the result does not have, or not as a number.
void check_fields(const Panel& panel, const nlohmann::ordered_json& result,
                  Diagnostics& diagnostics);

// Result of panel p's point i; nullptr where it failed: it is not drawn.
using ResultOf = std::function<const nlohmann::ordered_json*(std::size_t p, std::size_t i)>;

// Panel by panel, series by series; lines ascending in x, bars in the file's order. Records points
// that share an x, and a normalisation to a point that is not there although no result is missing.
// Precondition: check_fields found nothing.
[[nodiscard]] std::vector<FigureRow> figure_rows(const Figure& figure, const ResultOf& result_of,
                                                 Diagnostics& diagnostics);

// Columns panel, series, part (where bars have several), x, y, y_from (likewise), then all fields
// of the results.
[[nodiscard]] std::string figure_csv(const Figure& figure, const std::vector<FigureRow>& rows);

}  // namespace espalier
