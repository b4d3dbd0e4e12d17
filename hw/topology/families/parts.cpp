#include "hw/topology/families/parts.h"

#include <utility>

#include <fmt/format.h>

namespace espalier {

FamilyKey latency_key(const std::string& name, const std::string& where) {
  return {FamilyKey::Kind::latency, name + ".latency",
          "latency of one direction, " + where + "; link: system.link.latency", false, 0};
}

FamilyKey bandwidth_key(const std::string& name, const std::string& where) {
  return {FamilyKey::Kind::bandwidth, name + ".bandwidth",
          "bandwidth of one direction, " + where + "; link: system.link.bandwidth", false, 0};
}

std::vector<NodeId> vertices_from(std::size_t first, std::size_t count) {
  std::vector<NodeId> vertices;
  for (std::size_t v = first; v < first + count; ++v) vertices.emplace_back(v);
  return vertices;
}

Topology make_leaves(const std::string& name, std::size_t nodes_per_switch, std::size_t leaves,
                     std::size_t spines, LinkSpec link) {
  Topology topology(name);
  const std::size_t nodes = nodes_per_switch * leaves;
  for (std::size_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n_{}", n));
  for (std::size_t s = 0; s < leaves; ++s) topology.add_switch(fmt::format("sw_{}", s));
  for (std::size_t s = 0; s < spines; ++s) topology.add_switch(fmt::format("sp_{}", s));
  for (std::size_t n = 0; n < nodes; ++n) {
    add_cable(topology, NodeId(n), leaf_switch(topology, n / nodes_per_switch), link);
  }
  return topology;
}

NetworkShape leaves_shape(const Topology& topology, std::size_t nodes_per_switch,
                          CrossSwitches cross) {
  NetworkShape shape;
  shape.route = [nodes_per_switch, cross = std::move(cross)](const Topology& network, NodeId from,
                                                             NodeId to, std::uint32_t channel) {
    Walk walk(network, from);
    walk.leave_by(0);
    if (from.index() / nodes_per_switch != to.index() / nodes_per_switch) {
      cross(from, to, channel, walk);
    }
    walk.leave_by(to.index() % nodes_per_switch);
    return walk.links();
  };
  const std::size_t nodes = topology.num_nodes();
  const std::size_t leaves = nodes / nodes_per_switch;
  const std::size_t spines = topology.num_switches() - leaves;
  if (spines != 0) shape.picture.push_back({vertices_from(nodes + leaves, spines)});
  shape.picture.push_back({vertices_from(nodes, leaves), 110, spines == 0 && leaves > 2});
  shape.picture.push_back({vertices_from(0, nodes), 88});
  return shape;
}

NetworkSize size_of_leaves(std::string name, std::uint64_t nodes_per_switch, std::uint64_t leaves,
                           std::uint64_t peers) {
  const std::uint64_t nodes = leaves * nodes_per_switch;
  return {std::move(name), nodes, 2 * nodes + leaves * peers, nodes_per_switch + peers};
}

ServerShape leaf_as_server(const NetworkSpec& spec) { return {spec.count("nodes_per_switch")}; }

}  // namespace espalier
