// Parts of ring algorithms: the order in which a ring visits the nodes (hamiltonian.cpp), the two
// halves of a ring all-reduce on it (ring.cpp), and an all_to_all (ring_exchange.cpp).
#pragma once

#include <string>
#include <vector>

#include "alg/schedule/collective_request.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier {

// The dimensions of a grid that have more than one node on a line.
[[nodiscard]] std::vector<std::size_t> long_dimensions(const GridShape& grid);

// A closed walk over all nodes. hops[i] leads from nodes[i] to nodes[i + 1]; the last hop leads
// back to nodes[0], which is node 0. A hop is a list of links, because pairs of nodes do not
// identify parallel links.
struct NodeRing {
  bool hamiltonian = false;  // every hop is a single link
  std::vector<NodeId> nodes;
  std::vector<std::vector<LinkId>> hops;
};

// The links of a Hamiltonian cycle from node 0, or nothing if none was found. Torus and mesh:
// constructed if one exists (torus: always; mesh: if the number of nodes is even and the mesh is
// not a line, or if there are two nodes). Fully connected: the nodes by id. Other graphs:
// backtracking with a limited number of steps, so a large graph may have a cycle that is not found.
// Precondition: no switches.
[[nodiscard]] std::vector<LinkId> hamiltonian_cycle(const Topology& topology);

// A Hamiltonian cycle if there are no switches and a cycle is found. Otherwise the nodes in
// depth-first order (at a switch first its nodes, then its neighbour switches, in port order),
// linked by route_packet(). On a tree, such a walk uses every directed link exactly once, so a ring
// algorithm is free of contention. In a GPU cluster the nodes by id, which enters and leaves each
// server once; in a data centre also by id, which is independent of their places. Preconditions:
// connected, links in both directions, at least two nodes.
[[nodiscard]] NodeRing find_node_ring(const Topology& topology);

struct RingLine {
  std::vector<NodeId> nodes;
  std::vector<RouteId> hops;  // hops[i] leads from nodes[i] to the next, the last one to nodes[0]
  [[nodiscard]] std::size_t size() const { return nodes.size(); }
};

// The same nodes in the opposite order. hops_back[i] leads from line.nodes[i + 1] to line.nodes[i].
[[nodiscard]] RingLine reversed(const RingLine& line, const std::vector<RouteId>& hops_back);

// Consecutive chunks on their way round the ring.
struct RingFlow {
  FlowId flow;
  std::size_t root = 0;  // place on the line at which the reduction ends and the gather starts
  ChunkId first_chunk;
  std::uint32_t num_chunks = 1;
};

// The flow's hop from a place to the next.
[[nodiscard]] Transfer hop_of(const RingLine& line, const RingFlow& flow, std::size_t place,
                              TransferKind kind, Timestep step);

// By place on a line: the transfers for which the place's own data wait.
using RingWaits = std::vector<std::vector<TransferId>>;

// Takes size() - 1 steps from `first_step` on, from the root's successor round to the root. Each
// place adds its data to the arrived data and sends the sum on. Returns the transfer into the root,
// which completes the flow there.
TransferId add_reduce_chain(Schedule& schedule, const RingLine& line, const RingFlow& flow,
                            Timestep first_step, const RingWaits& waits);
// Takes size() - 1 steps from `first_step` on, from the root round to its predecessor. Returns the
// transfer that completes the flow at each place; the root's is invalid.
std::vector<TransferId> add_gather_chain(Schedule& schedule, const RingLine& line,
                                         const RingFlow& flow, Timestep first_step,
                                         const std::vector<TransferId>& root_waits);

// The all_to_all of ASTRA-sim's rings: every place sends one message at a time to the next place,
// and the next one when a message has arrived. Data for the place s places on take s hops, so K
// places take K (K - 1) / 2 steps. Dimension by dimension, data go first to where the destination's
// coordinate in this dimension is.
class RingExchange {
 public:
  // Sets the chunks of `schedule`, which must outlive it. `order`: of the ranks to which a rank has
  // chunks.
  RingExchange(Schedule& schedule, const CollectiveRequest& request,
               const std::vector<std::size_t>& order);
  // Rings of one length, in which each node is once. `place_of`: by destination node, its place.
  void add(const std::vector<RingLine>& lines, const std::vector<std::size_t>& place_of);

 private:
  void pass_round(const RingLine& line, Timestep first_step,
                  const std::vector<std::size_t>& place_of);

  Schedule& schedule_;
  std::vector<std::vector<std::size_t>> held_;  // by node: chunks with bytes, ascending
  std::vector<TransferId> brought_;             // by chunk: what brought it where it is
  std::vector<std::vector<TransferId>> came_;   // by node: its arrivals in the last step
  std::size_t next_flow_ = 0;
};
// Generator::too_large.
[[nodiscard]] std::string exchange_too_large(const Topology& topology, CollectiveOp op);

}  // namespace espalier
