// Point-to-point messages in a table of comma-separated values.
//
//   ready,from,to,bytes    # always this header
//   0,r_1_0,r_0_0,4096   # cycle, sender, receiver, size; in any order
//
// A node is its name or its number. '#' starts a comment; blank lines and blanks around a value
// mean nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Where the file of a configuration stands; precondition: its pattern is file.
[[nodiscard]] std::string messages_file_path(const TrafficConfig& config);

// The messages of a file's text, by sender, then by time, then as in the file. `file_name` is for
// diagnostics.
[[nodiscard]] std::optional<std::vector<TrafficMessage>> parse_messages(
    const std::string& file_name, const std::string& text, const Topology& topology,
    Diagnostics& diagnostics);

// The same from the configuration's file; `place` is where the configuration names it.
[[nodiscard]] std::optional<std::vector<TrafficMessage>> load_messages(const TrafficConfig& config,
                                                                       const Topology& topology,
                                                                       const Place& place,
                                                                       Diagnostics& diagnostics);

}  // namespace espalier
