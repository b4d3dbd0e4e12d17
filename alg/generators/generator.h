// The interface of the offline schedule generators, and their registration table.
#pragma once

#include <string>
#include <vector>

#include "alg/schedule/schedule.h"

namespace espalier {

struct CollectiveRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;  // all_gather: of the gathered result; else of each rank's input. Multiple of
                   // element_bytes.
  Bytes element_bytes = kDefaultElementBytes;
  // Pieces that a chunk is cut into, so that forwarding a piece overlaps the arrival of the next;
  // 0: the algorithm's own choice. Algorithms without segments ignore it.
  std::uint32_t segments = 0;
  // MULTITREE: whose tree takes its turn first (section III-C2).
  // BCUBE: peers of a group.
  std::uint32_t base = 4;
  // The node of each rank; empty: rank r is node r. Chunks lie in the order of their ranks, and
  // chunk r belongs to the node of rank r. Logical algorithms send from rank to rank along packet
  // routes; in those that follow the network ranks say whose chunk is whose, and with multitree
  // whose tree takes its turn first.
  std::vector<NodeId> rank_order;
  // The node of a rank.
  [[nodiscard]] NodeId node_of(std::size_t rank) const {
    return rank_order.empty() ? NodeId(rank) : rank_order[rank];
  }
  enum class TreeOrder : std::uint8_t { root, remaining_height } tree_order = TreeOrder::root;
};

struct Generator {
  std::string name;
  std::string summary;            // one line for `espalier list algorithms`
  std::vector<CollectiveOp> ops;  // what it can compute
  // Empty where the algorithm runs on this topology, else the reason why not, as a sentence for the
  // user.
  std::string (*unsuited)(const Topology& topology);
  // Preconditions: unsuited(topology) is empty, ops has request.op, request.rank_order is empty or
  // has every node once. Transfers of zero bytes are left out of the result. Throws
  // std::invalid_argument where the request cannot be met on this topology.
  Schedule (*generate)(const Topology& topology, const CollectiveRequest& request);
  bool follows_rank_order = true;  // else request.rank_order is empty
};

// In the order in which they are listed to users.
[[nodiscard]] const std::vector<Generator>& generators();
// nullptr where no generator has that name.
[[nodiscard]] const Generator* find_generator(const std::string& name);

// See Generator::unsuited; of an algorithm that only needs routes between all nodes it is
// unsuited_for_routes (alg/generators/node_routes.h).
[[nodiscard]] std::string unsuited_for_2d_ring(const Topology& topology);
[[nodiscard]] std::string unsuited_for_multitree(const Topology& topology);
[[nodiscard]] std::string unsuited_for_multitree_translated(const Topology& topology);
[[nodiscard]] std::string unsuited_for_direct(const Topology& topology);
[[nodiscard]] std::string unsuited_for_hdrm(const Topology& topology);

// ring.cpp, ring_2d.cpp, multitree.cpp
[[nodiscard]] Schedule generate_ring(const Topology& topology, const CollectiveRequest& request);
[[nodiscard]] Schedule generate_bidirectional_ring(const Topology& topology,
                                                   const CollectiveRequest& request);
[[nodiscard]] Schedule generate_2d_ring(const Topology& topology, const CollectiveRequest& request);
[[nodiscard]] Schedule generate_multitree(const Topology& topology,
                                          const CollectiveRequest& request);
[[nodiscard]] Schedule generate_multitree_translated(const Topology& topology,
                                                     const CollectiveRequest& request);
// direct.cpp, halving_doubling.cpp, hdrm.cpp, bcube.cpp, dbtree.cpp
[[nodiscard]] Schedule generate_direct(const Topology& topology, const CollectiveRequest& request);
[[nodiscard]] Schedule generate_halving_doubling(const Topology& topology,
                                                 const CollectiveRequest& request);
[[nodiscard]] Schedule generate_hdrm(const Topology& topology, const CollectiveRequest& request);
[[nodiscard]] Schedule generate_bcube(const Topology& topology, const CollectiveRequest& request);
[[nodiscard]] Schedule generate_dbtree(const Topology& topology, const CollectiveRequest& request);

}  // namespace espalier
