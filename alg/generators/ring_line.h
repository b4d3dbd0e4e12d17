// The two halves of a ring all-reduce on one ring of nodes: what all ring algorithms are made of.
#pragma once

#include <vector>

#include "alg/schedule/schedule.h"

namespace espalier {

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

// Per place on a line: transfers that the place's own data has to wait for.
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

// No link carries two transfers of one step. Precondition: transfers sorted by step.
[[nodiscard]] bool is_contention_free(const Schedule& schedule);

}  // namespace espalier
