// The gnuplot script that draws a figure from its CSV.
#pragma once

#include <string>
#include <vector>

#include "sims/report/figure/figure.h"
#include "sims/report/figure/figure_table.h"

namespace espalier {

// Reads NAME.csv and writes NAME.svg in the folder where it is run.
[[nodiscard]] std::string gnuplot_script(const Figure& figure, const std::vector<FigureRow>& rows);

}  // namespace espalier
