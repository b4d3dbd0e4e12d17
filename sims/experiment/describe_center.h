// What results say of a data centre and of its other tenants.
#pragma once

#include <nlohmann/json.hpp>

#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

// Members `oversubscription` and `tenants`, where the point has them.
void describe_center(nlohmann::ordered_json& result, const RunPoint& point,
                     const SimulationOutcome& outcome);

}  // namespace espalier
