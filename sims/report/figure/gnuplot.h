// The gnuplot script that draws a figure from its CSV, and the call of gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sims/report/figure/figure.h"
#include "sims/report/figure/figure_table.h"

namespace espalier {

// Runs the script in its folder. Returns what is wrong and what to do, or an empty text.
[[nodiscard]] std::string run_gnuplot(const std::filesystem::path& script);

// Reads NAME.csv and writes NAME.svg in the folder where it is run.
[[nodiscard]] std::string gnuplot_script(const Figure& figure, const std::vector<FigureRow>& rows);

}  // namespace espalier
