// Parts of ring algorithms: the order in which a ring visits the nodes (hamiltonian.cpp), and the
// two halves of a ring all-reduce on it (ring.cpp).
#pragma once

#include <vector>

#include "alg/schedule/schedule.h"
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

struct RingLine {
  std::vector<NodeId> nodes;
  std::vector<RouteId> hops;  // hops[i] leads from nodes[i] to the next, the last one to nodes[0]
  [[nodiscard]] std::size_t size() const { return nodes.size(); }
};

// The same nodes the other way round; hops_back[i] leads from line.nodes[i + 1] to line.nodes[i].
[[nodiscard]] RingLine reversed(const RingLine& line, const std::vector<RouteId>& hops_back);

// A run of chunks on its way round the ring.
struct RingFlow {
  FlowId flow;
  std::size_t root = 0;  // place on the line where the reduction ends and the gather starts
  ChunkId first_chunk;
  std::uint32_t num_chunks = 1;
};

// By place on a line: transfers that the place's own data wait for.
using RingWaits = std::vector<std::vector<TransferId>>;

// size() - 1 steps from `first_step`, from the root's successor round to the root: each place adds
// what arrived and sends on. Returns the transfer into the root, which completes the flow there.
TransferId add_reduce_chain(Schedule& schedule, const RingLine& line, const RingFlow& flow,
                            Timestep first_step, const RingWaits& waits);
// size() - 1 steps from `first_step`, from the root round to its predecessor. Returns the transfer
// that completes the flow at each place; the root's is invalid.
std::vector<TransferId> add_gather_chain(Schedule& schedule, const RingLine& line,
                                         const RingFlow& flow, Timestep first_step,
                                         const std::vector<TransferId>& root_waits);

}  // namespace espalier
