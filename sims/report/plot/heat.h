// One colour, from little to much: classes h0 to h9 of the style sheet.
#pragma once

#include <string>

#include "sims/report/plot/svg.h"

namespace espalier::report {

inline constexpr std::size_t kHeatLevels = 10;

// Of a part from 0 to 1; what is outside counts as the nearest.
[[nodiscard]] std::size_t heat_level(double part);
[[nodiscard]] std::string heat_class(double part);

// Its key: a row of the colours with the ends' values.
inline constexpr double kHeatKeyHeight = 34;
void draw_heat_key(Svg& svg, double x, double y, const std::string& label);

}  // namespace espalier::report
