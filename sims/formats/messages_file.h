// Point-to-point messages in a table of comma-separated values.
//
//   ready,from,to,bytes   # the required header
//   0,r_1_0,r_0_0,4096    # cycle, sender, receiver, size; lines in any order
//
// A node is given by its name or its number. '#' starts a comment. Blank lines and blanks around a
// value are ignored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/traffic_config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// The messages of a file's text, ordered by sender, then time, then line. `file_name` is for
// diagnostics.
[[nodiscard]] std::optional<std::vector<TrafficMessage>> parse_messages(
    const std::string& file_name, const std::string& text, const Topology& topology,
    Diagnostics& diagnostics);

// The messages of the configuration's file, which it names at `place`.
[[nodiscard]] std::optional<std::vector<TrafficMessage>> load_messages(const TrafficConfig& config,
                                                                       const Topology& topology,
                                                                       const Place& place,
                                                                       Diagnostics& diagnostics);

}  // namespace espalier
