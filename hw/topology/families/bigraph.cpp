// EFLOPS's BiGraph: two sides of switches, every switch linked to every switch of the other side.
// MultiTree's 4x8 network has 4 nodes on each of 8 switches.
#include <fmt/format.h>

#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

NetworkSize size_of_bigraph(const NetworkSpec& spec) {
  const std::uint64_t nodes = spec.number("nodes_per_switch");
  const std::uint64_t switches = spec.number("switches");
  return size_of_leaves(fmt::format("bigraph {}x{}", nodes, switches), nodes, switches,
                        switches / 2);
}

std::optional<NetworkProblem> problem_of_bigraph(const NetworkSpec& spec) {
  const std::uint64_t switches = spec.number("switches");
  const NetworkSize size = size_of_bigraph(spec);
  if (switches % 2 == 0 || size.nodes > kMostNodes || size.links > kMostLinks) return std::nullopt;
  return NetworkProblem{
      fmt::format("system.topology.switches: a BiGraph needs an even number of switches, half of "
                  "them on either side; found {}",
                  switches),
      fmt::format("for example {}", switches + 1)};
}

Topology build_bigraph(const NetworkSpec& spec, LinkSpec link) {
  const std::size_t nodes = spec.number("nodes_per_switch");
  const std::size_t half = spec.number("switches") / 2;
  Topology topology = make_leaves(size_of_bigraph(spec).name, nodes, 2 * half, 0, link);
  for (std::size_t upper = 0; upper < half; ++upper) {
    for (std::size_t lower = half; lower < 2 * half; ++lower) {
      add_cable(topology, leaf_switch(topology, upper), leaf_switch(topology, lower), link);
    }
  }
  // One hop to the other side; within a side two, by way of the other side's switch at the position
  // of the source's. A leaf's ports behind the ports to its nodes lead to the other side, in order.
  const auto cross = [nodes, half](NodeId from, NodeId to, std::uint32_t, Walk& walk) {
    const std::size_t source = from.index() / nodes;
    const std::size_t destination = to.index() / nodes;
    if ((source < half) == (destination < half)) walk.leave_by(nodes + source % half);
    walk.leave_by(nodes + destination % half);
  };
  NetworkShape shape = leaves_shape(topology, nodes, cross);
  shape.sides = TwoSides{spec.count("switches"), spec.count("nodes_per_switch")};
  // One class suffices: the first of two hops within a side joins switches of one position, and the
  // second hop never does, so the first waits only for hops that end.
  shape.vc_classes.all = 2;
  const std::size_t all = topology.num_nodes();
  shape.picture = {{vertices_from(0, all / 2)},
                   {vertices_from(all, half), 60},
                   {vertices_from(all + half, half), 176},
                   {vertices_from(all / 2, all / 2), 60}};
  topology.set_shape(std::move(shape));
  return topology;
}

}  // namespace

Family bigraph_family() {
  Family row(7, "bigraph",
             "nodes_per_switch, switches; every switch linked to all switches of the other side",
             {nodes_per_switch_key(), required_count("switches", "of both sides together", 2)},
             "system.topology.switches", size_of_bigraph, build_bigraph);
  row.problem = problem_of_bigraph;
  row.server = leaf_as_server;
  return row;
}

}  // namespace espalier
