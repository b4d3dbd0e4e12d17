#include "sims/report/plot/heat.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier::report {

std::size_t heat_level(double part) {
  const double level = std::clamp(part, 0.0, 1.0) * static_cast<double>(kHeatLevels);
  return std::min(static_cast<std::size_t>(level), kHeatLevels - 1);
}

std::string heat_class(double part) { return fmt::format("h{}", heat_level(part)); }

void draw_heat_key(Svg& svg, double x, double y, const std::string& label) {
  constexpr double kCell = 15;
  svg.text(x, y + 11, "0 %", "tick");
  for (std::size_t level = 0; level < kHeatLevels; ++level) {
    svg.rect(x + 30 + kCell * static_cast<double>(level), y + 1, kCell, 12,
             fmt::format("cell h{}", level));
  }
  const double end = x + 30 + kCell * static_cast<double>(kHeatLevels);
  svg.text(end + 6, y + 11, "100 %", "tick");
  svg.text(end + 56, y + 11, label, "tick");
}

}  // namespace espalier::report
