#include "sims/formats/named_node.h"

#include <fmt/format.h>

#include <vector>

#include "hw/topology/vertex_names.h"
#include "sims/text/nearest_name.h"

namespace espalier {

std::string vertex_hint(const Topology& topology, const std::string& written, bool only_nodes) {
  std::vector<std::string> names = vertex_names(topology);
  if (only_nodes) names.resize(topology.num_nodes());
  const std::string nearest = nearest_name(written, names);
  return nearest.empty() ? fmt::format("write a node's number from 0 to {}, or a name such as '{}'",
                                       topology.num_nodes() - 1, names.front())
                         : fmt::format("did you mean '{}'?", nearest);
}

std::optional<NodeId> named_node(const Topology& topology, const std::string& key,
                                 const std::string& written, const Place& place,
                                 Diagnostics& diagnostics) {
  const NodeId node = find_vertex(topology, written);
  if (node.valid() && !topology.is_switch(node)) return node;
  diagnostics.error(
      place,
      fmt::format("{}: '{}' is {}", key, written,
                  node.valid() ? "a switch; a node is needed" : "no node of the network"),
      vertex_hint(topology, written, true));
  return std::nullopt;
}

}  // namespace espalier
