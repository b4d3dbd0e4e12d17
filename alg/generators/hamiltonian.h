// The order in which a ring algorithm visits the nodes.
#pragma once

#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// A closed walk over all nodes. hops[i] leads from nodes[i] to nodes[i + 1], the last one back to
// nodes[0] = node 0; links and not pairs of nodes, because of parallel links.
struct NodeRing {
  bool hamiltonian = false;  // every hop is a single link
  std::vector<NodeId> nodes;
  std::vector<std::vector<LinkId>> hops;
};

// The links of a Hamiltonian cycle from node 0, or nothing where none was found.
// Torus, mesh: constructed where one exists (torus: always; mesh: an even number of nodes that are
// no line, or two nodes). Fully connected: the nodes by id. Other graphs: backtracking with a
// bounded number of steps, so that a large graph may be given up although it has a cycle.
// Precondition: no switches.
[[nodiscard]] std::vector<LinkId> hamiltonian_cycle(const Topology& topology);

// A Hamiltonian cycle where there are no switches and it exists, else the nodes in depth-first
// order (at a switch first its nodes, then on to its neighbour switches, in port order), from one
// to the next by route_packet. On a tree such a walk takes every directed link exactly once, so
// that a ring algorithm stays free of contention. In a GPU cluster by id, which enters and leaves
// each server once; in a data centre by id too, which says nothing about where they are.
// Preconditions: connected, links in both directions, at least two nodes.
[[nodiscard]] NodeRing find_node_ring(const Topology& topology);

}  // namespace espalier
