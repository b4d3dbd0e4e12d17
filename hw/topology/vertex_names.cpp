#include "hw/topology/vertex_names.h"

#include <string_view>

namespace espalier {

std::optional<std::uint32_t> node_number(const std::string& text) {
  constexpr std::size_t kMostDigits = 9;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || text.size() > kMostDigits || (text.size() > 1 && text[0] == '0')) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(std::stoul(text));
}

NodeId find_vertex(const Topology& topology, const std::string& written) {
  if (const NodeId named = topology.find_vertex(written); named.valid()) return named;
  const auto numbered = [&](const std::string& text) {
    const auto number = node_number(text);
    return number && *number < topology.num_nodes() ? NodeId(*number) : NodeId();
  };
  if (node_number(written)) return numbered(written);
  std::string name = written;
  for (const std::string_view prefix : {"net.", "ni_"}) {
    if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
  }
  // NIs are named after vertices, which need not be numbered like nodes.
  for (const std::string& vertex : {"r_" + name, name}) {
    if (const NodeId named = topology.find_vertex(vertex); named.valid()) return named;
  }
  return numbered(name);
}

std::vector<std::string> vertex_names(const Topology& topology) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    names.push_back(topology.vertex_name(NodeId(v)));
  }
  return names;
}

std::string ni_name(const std::string& vertex_name) {
  return "ni_" + (vertex_name.rfind("r_", 0) == 0 ? vertex_name.substr(2) : vertex_name);
}

}  // namespace espalier
