// Valid limits of a point, in a sweep file and on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "sims/experiment/workers.h"
#include "sims/text/units.h"

namespace espalier {

struct LimitRange {
  Quantity quantity;
  std::uint64_t least;
  std::uint64_t most;

  // In the quantity's base units, within the range.
  [[nodiscard]] ParsedQuantity parse(const std::string& text) const;
};

inline constexpr LimitRange kTimeLimits{Quantity::duration, 1,
                                        std::uint64_t{kLongestTimeLimit.count()}};
// The program alone takes about 20 MiB of address space.
inline constexpr LimitRange kMemoryLimits{Quantity::size, std::uint64_t{32} << 20U,
                                          std::uint64_t{1} << 60U};

}  // namespace espalier
