// Shapes over ranks that do not depend on the network: two binary trees, and groups by the digits
// of a rank. Generators build schedules on these shapes, alg/rank_order prices them, and
// alg/program compiles them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// The double binary tree: two trees over the ranks; the leaves of one are inner nodes of the other
// (Sanders, Speck, Traeff: "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// 2009). The shape is NCCL's (ncclGetBtree, ncclGetDtree).
struct RankTree {
  std::size_t root = 0;
  std::vector<std::size_t> parent;  // by rank; the root's is the root itself
  std::vector<std::size_t> depth;   // by rank; the root's is 0

  [[nodiscard]] std::size_t size() const { return parent.size(); }
};

// The first tree: rank 0 is the root and has one child, the largest power of two. All other ranks
// form a search tree whose leaves are the odd ranks. Precondition: ranks >= 1.
[[nodiscard]] RankTree make_binary_tree(std::size_t ranks);

// The second tree is the first one with mirrored ranks (r becomes N-1-r) if N is even, and with
// shifted ranks (r becomes r+1 mod N) if N is odd. With an odd N, rank 0 is an inner node of both
// trees, because the first tree has (N+1)/2 inner nodes, and two such sets cannot be disjoint.
[[nodiscard]] std::array<RankTree, 2> make_double_tree(std::size_t ranks);

// Returns an empty text if `nodes` is a power of `base`, otherwise a sentence for the user.
[[nodiscard]] std::string unsuited_for_bcube(std::size_t nodes, std::uint32_t base);

// The smallest base such that `nodes` is a power of it. Precondition: nodes >= 2.
[[nodiscard]] std::uint32_t smallest_bcube_base(std::size_t nodes);

// HDRM's node of each rank on a BiGraph; every node occurs once. Precondition: hdrm runs on the
// topology.
[[nodiscard]] std::vector<NodeId> hdrm_ranks(const Topology& topology);

}  // namespace espalier
