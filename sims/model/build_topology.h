// Builds the topology that a configuration describes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/topology_config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct SystemConfig;

// The path of the configuration's graph file. Precondition: the topology is from a file.
[[nodiscard]] std::string topology_file_path(const TopologyConfig& config);
// The file that system.topology names is ASTRA-sim's network.yml, read as one network
// (make_joined): its latencies contain the cycles of NIs and routers.
[[nodiscard]] bool joins_dimensions(const SystemConfig& system);

// B/s of the fastest link that the keys of `system` or its graph file describe. A graph file with
// errors counts for nothing.
[[nodiscard]] std::uint64_t fastest_link(const SystemConfig& system);

// For a system that was read without errors. Throws std::invalid_argument with the messages if the
// graph file has become invalid since.
[[nodiscard]] Topology build_topology(const SystemConfig& system);

// Takes the parts of system.topology.without out ("node 5", "switch sp_0", "link 3-4", "link 3->4";
// vertices by name, nodes also by number). Records an error at `place` and returns nothing if a
// part does not exist, or if fewer than two nodes are left or they are not connected
// (broken_parts.cpp).
[[nodiscard]] std::optional<Topology> without_broken(const Topology& topology,
                                                     const std::vector<std::string>& parts,
                                                     const Place& place, Diagnostics& diagnostics);

// Gives a graph from a file its family's shape if it is a network of one, and any network the
// routes of system.routing. Records an error at `place` and returns false if it cannot have them.
[[nodiscard]] bool finish_network(Topology& topology, const SystemConfig& system,
                                  const Place& place, Diagnostics& diagnostics);

// Where errors are shown: of the network itself, of system.topology.without, of system.routing.
struct TopologyPlaces {
  Place network;
  Place parts;
  Place routes;
};

// For the reader. Links are checked against the clock only if `clock_valid`. Precondition: a
// multi-dimensional system has passed check_dimensions().
[[nodiscard]] std::optional<Topology> build_topology(const SystemConfig& system, bool clock_valid,
                                                     const TopologyPlaces& places,
                                                     Diagnostics& diagnostics);

}  // namespace espalier
