// How people name vertices. The one reader of a node, wherever one is written: configurations,
// files of messages, scopes of waveforms, programs with modules of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// The number that `text` is; none if it is a name.
[[nodiscard]] std::optional<std::uint32_t> node_number(const std::string& text);

// Finds a vertex by a node's number (13), a vertex's name (r_3_1, a0), its coordinates as in that
// name (3_1), or the name of its network interface (ni_3_1, net.ni_3_1). ni_13 is the interface of
// that name, or else of node 13. Returns an invalid id if there is none.
[[nodiscard]] NodeId find_vertex(const Topology& topology, const std::string& written);

// The names of all vertices, for hints.
[[nodiscard]] std::vector<std::string> vertex_names(const Topology& topology);

// The module's name of a node's network interface: ni_3_1.
[[nodiscard]] std::string ni_name(const std::string& vertex_name);

}  // namespace espalier
