// The inputs that a point's result depends on.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace espalier {

struct RunPoint;

// The resolved configuration, and a hash of the text of each file that it names, as that text was
// read for the point. Two points with the same content are one simulation.
[[nodiscard]] nlohmann::ordered_json point_content(const RunPoint& point);

}  // namespace espalier
