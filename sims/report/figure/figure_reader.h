// From a figure file to its panels and checked run points.
#pragma once

#include <string>
#include <vector>

#include "sims/report/figure/figure.h"

namespace espalier {

struct FigureResult {
  Figure figure;            // incomplete on errors
  Diagnostics diagnostics;  // also for what only results show, such as fields they do not have
  bool ok = false;          // no errors; there may be warnings
};

// Overrides are "dotted.key=value" as after -s; they win over everything in the file.
[[nodiscard]] FigureResult read_figure(const std::string& path,
                                       const std::vector<std::string>& overrides = {});

}  // namespace espalier
