// Rules of section system.dimensions, each reported at the entry that breaks it.
#pragma once

#include <functional>
#include <string>

#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

inline constexpr std::size_t kWholeList = ~std::size_t{0};

// Where an entry of a list stands: "latency", 1.
using DimensionPlace = std::function<Place(const std::string& key, std::size_t entry)>;

// Whether such a system can be built. Precondition: every key it follows from was given with a
// valid value, or not at all.
[[nodiscard]] bool check_dimensions(const SystemConfig& system, const DimensionPlace& place,
                                    Diagnostics& diagnostics);

}  // namespace espalier
