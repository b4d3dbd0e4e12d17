#include "sims/experiment/sweep/point_limits.h"

#include <fmt/format.h>

namespace espalier {

ParsedQuantity LimitRange::parse(const std::string& text) const {
  ParsedQuantity parsed = parse_quantity(quantity, text);
  if (!parsed.value || (*parsed.value >= least && *parsed.value <= most)) return parsed;
  const bool too_little = *parsed.value < least;
  return {
      std::nullopt, fmt::format("{} is too {}", text, too_little ? "small" : "large"),
      fmt::format("{} to {}", format_quantity(quantity, least), format_quantity(quantity, most))};
}

}  // namespace espalier
