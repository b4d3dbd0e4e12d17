// What decides the time of a run, in one or two sentences.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier {

// Reads the account that describe_explanation() wrote for a run of `point`. Names a link with its
// rate if the link is slower than most others, and a late NI with its delay.
[[nodiscard]] std::string verdict_of(const nlohmann::ordered_json& explanation,
                                     const Topology& topology, const RunPoint& point);

}  // namespace espalier
