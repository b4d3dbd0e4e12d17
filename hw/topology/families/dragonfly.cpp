// Canonical dragonfly: `groups` groups of `group_size` switches with `nodes_per_switch` nodes each.
// Every pair of groups has one link each way. The links are spread evenly over a group's switches.
#include <fmt/format.h>

#include <algorithm>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

struct Groups {
  std::size_t size;
  std::size_t count;

  // The leaf of `group` with the link to group `other`. A group numbers the other groups from its
  // successor on, 0 to count - 2. Switch i of its switches has the links to groups from
  // ceil(i (count - 1) / size) on, so shares differ by at most one link.
  [[nodiscard]] std::size_t gateway(std::size_t group, std::size_t other) const {
    return group * size + (other + count - group - 1) % count * size / (count - 1);
  }

  // By switch, the neighbours with a higher number, in order.
  [[nodiscard]] std::vector<std::vector<std::size_t>> later_neighbours() const {
    std::vector<std::vector<std::size_t>> later(size * count);
    for (std::size_t s = 0; s < later.size(); ++s) {
      for (std::size_t peer = s + 1; peer < (s / size + 1) * size; ++peer) later[s].push_back(peer);
    }
    for (std::size_t g = 0; g < count; ++g) {
      for (std::size_t h = g + 1; h < count; ++h) later[gateway(g, h)].push_back(gateway(h, g));
    }
    for (auto& neighbours : later) std::sort(neighbours.begin(), neighbours.end());
    return later;
  }
};

NetworkSize size_of_dragonfly(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("nodes_per_switch");
  const std::uint64_t size = spec.number("group_size");
  const std::uint64_t groups = spec.number("groups");
  const std::uint64_t global = (groups - 1 + size - 1) / size;
  NetworkSize found = size_of_leaves(fmt::format("dragonfly {}x{}x{}", nodes, size, groups), nodes,
                                     size * groups, size - 1 + global);
  // An upper bound: some switches may have one global link less.
  found.links = 2 * found.nodes + size * groups * (size - 1) + groups * (groups - 1);
  return found;
}

Topology build_dragonfly(const NetworkSpec& spec, LinkSpec link) {
  const std::size_t nodes = spec.number("nodes_per_switch");
  const Groups groups{spec.number("group_size"), spec.number("groups")};
  Topology topology =
      make_leaves(size_of_dragonfly(spec).name, nodes, groups.size * groups.count, 0, link);
  const auto later = groups.later_neighbours();
  for (std::size_t s = 0; s < later.size(); ++s) {
    for (const std::size_t peer : later[s]) {
      add_cable(topology, leaf_switch(topology, s), leaf_switch(topology, peer), link);
    }
  }
  // Minimal: to the group's switch with the global link (local), over it (global), to the
  // destination's switch (local); unneeded hops are left out.
  const auto cross = [nodes, groups, first = topology.num_nodes()](NodeId from, NodeId to,
                                                                   std::uint32_t, Walk& walk) {
    const std::size_t destination = to.index() / nodes;
    const std::size_t group = from.index() / nodes / groups.size;
    const std::size_t other = destination / groups.size;
    if (group != other) {
      walk.go_to(NodeId(first + groups.gateway(group, other)));
      walk.go_to(NodeId(first + groups.gateway(other, group)));
    }
    walk.go_to(NodeId(first + destination));
  };
  NetworkShape shape = leaves_shape(topology, nodes, cross);
  // A local link at a route's start waits for a global link, and the global link for a local link
  // at the route's end. If these local links had one class, there could be a cycle: A to B, B to C,
  // C to A. Global links may share a class with either. Between two groups, all global traffic uses
  // one switch in each group: routes start towards this switch and end away from it.
  shape.vc_classes = {3, groups.size > 1 && groups.count > 2 ? 2U : 1U, "across a dragonfly",
                      "local links before the global link and one for local links after it"};
  topology.set_shape(std::move(shape));
  return topology;
}

}  // namespace

Family dragonfly_family() {
  const auto size = required_count("group_size", "number of switches in one group");
  const auto groups = required_count(
      "groups", "number of groups of switches; each group is linked to every other group", 2);
  Family row(8, "dragonfly",
             "nodes_per_switch, group_size, groups; one link between any two groups",
             {nodes_per_switch_key(), size, groups}, "system.topology.groups", size_of_dragonfly,
             build_dragonfly);
  row.server = leaf_as_server;
  return row;
}

}  // namespace espalier
