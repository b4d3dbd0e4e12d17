// A fat tree of two levels: every leaf has one link to every spine. A k-ary one has
// nodes_per_switch = switches = spines = k; other values are allowed.
#include <fmt/format.h>

#include <algorithm>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

NetworkSize size_of_fat_tree(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("nodes_per_switch");
  const std::uint64_t leaves = spec.number("switches");
  const std::uint64_t spines = spec.number("spines");
  NetworkSize size = size_of_leaves(fmt::format("fat_tree {}x{}x{}", nodes, leaves, spines), nodes,
                                    leaves, 2 * spines);
  size.most_ports = std::max(nodes + spines, leaves);  // a leaf, a spine
  return size;
}

Topology build_fat_tree(const NetworkSpec& spec, LinkSpec link) {
  const std::size_t nodes = spec.number("nodes_per_switch");
  const std::size_t leaves = spec.number("switches");
  const std::size_t spines = spec.number("spines");
  Topology topology = make_leaves(size_of_fat_tree(spec).name, nodes, leaves, spines, link);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::size_t spine = 0; spine < spines; ++spine) {
      add_cable(topology, leaf_switch(topology, leaf), leaf_switch(topology, leaves + spine), link);
    }
  }
  const auto cross = [nodes, spines](NodeId from, NodeId to, std::uint32_t channel, Walk& walk) {
    walk.leave_by(nodes + (from.index() + channel) % spines);
    walk.leave_by(to.index() / nodes);
  };
  topology.set_shape(leaves_shape(topology, nodes, cross));
  return topology;
}

}  // namespace

Family fat_tree_family() {
  const auto switches = required_count("switches", "number of switches with accelerators", 2);
  const auto spines = required_count(
      "spines", "number of switches of the upper level; each is linked to every lower switch");
  Family row(6, "fat_tree", "nodes_per_switch, switches, spines; two levels",
             {nodes_per_switch_key(), switches, spines}, "system.topology.switches",
             size_of_fat_tree, build_fat_tree);
  row.server = leaf_as_server;
  return row;
}

}  // namespace espalier
