// Networks that are no grid: a graph in YAML.
//
//   name: my graph             # optional
//   nodes: [a, b, c]           # accelerators; their order is their id
//   switches: [s0]             # optional
//   links:
//     - {between: [a, s0], latency: 150ns, bandwidth: 16GB/s, count: 2}   # both ways, two of them
//     - {from: a, to: b}                                                  # one way
//
// latency and bandwidth default to those of system.link, count to 1. The order of the links is the
// order of the ports: the link to s0 is a's output to_s0, the second one to_s0_1, and enters s0 at
// from_a, from_a_1.
#pragma once

#include <optional>
#include <string>

#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct TopologyFileContext {
  LinkSpec default_link;
  // Links are checked against it; no value where the configuration's own clock is wrong.
  std::optional<ClockSpec> clock;
};

// Limits of every network.
inline constexpr std::size_t kMostNodes = 65536;
inline constexpr std::size_t kMostLinks = std::size_t{1} << 20;
inline constexpr std::size_t kMostPorts = 4096;  // of a router in a network that is not from a file
inline constexpr std::size_t kMostFabricPorts = 16384;  // of the switch that stands for the whole
                                                        // fabric between the servers of a cluster

// `file_name` is for messages, and names the network where the file does not.
[[nodiscard]] std::optional<Topology> parse_topology(const std::string& file_name,
                                                     const std::string& text,
                                                     const TopologyFileContext& context,
                                                     Diagnostics& diagnostics);

}  // namespace espalier
