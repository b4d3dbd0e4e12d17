// Reads a figure file into panels and checked run points.
#pragma once

#include <string>
#include <vector>

#include "sims/report/figure/figure.h"

namespace espalier {

struct FigureResult {
  Figure figure;            // incomplete after errors
  Diagnostics diagnostics;  // with those about results that lack a field
  bool ok = false;          // no errors; there may be warnings
};

// `overrides` are "dotted.key=value" as after -s; they override everything in the file.
[[nodiscard]] FigureResult read_figure(const std::string& path,
                                       const std::vector<std::string>& overrides = {});

}  // namespace espalier
