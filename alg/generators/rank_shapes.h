// Shapes over ranks, whatever the network: two binary trees, and groups by the digits of the rank.
// Generators build schedules on these shapes, alg/rank_order prices them, alg/program compiles
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// The double binary tree: two trees over the ranks such that the leaves of one are inner nodes of
// the other (Sanders, Speck, Traeff: "Two-tree algorithms for full bandwidth broadcast, reduction
// and scan", 2009), shaped as NCCL builds them (ncclGetBtree, ncclGetDtree).
struct RankTree {
  std::size_t root = 0;
  std::vector<std::size_t> parent;  // by rank; the root's is the root itself
  std::vector<std::size_t> depth;   // by rank; the root's is 0

  [[nodiscard]] std::size_t size() const { return parent.size(); }
};

// The first tree: rank 0 is the root and has one child, the largest power of two; all others form a
// search tree with the odd ranks as leaves. Precondition: ranks >= 1.
[[nodiscard]] RankTree make_binary_tree(std::size_t ranks);

// The second is the first with the ranks mirrored (r becomes N-1-r) where N is even, else shifted
// by one (r becomes r+1 mod N). With an odd N, rank 0 is inner node of both: the first tree has
// (N+1)/2 inner nodes, so that two of them cannot be disjoint.
[[nodiscard]] std::array<RankTree, 2> make_double_tree(std::size_t ranks);

// Empty where `nodes` is a power of `base`, else a sentence for the user.
[[nodiscard]] std::string unsuited_for_bcube(std::size_t nodes, std::uint32_t base);

// The smallest base of which `nodes`, at least 2, is a power: `nodes` itself is one.
[[nodiscard]] std::uint32_t smallest_bcube_base(std::size_t nodes);

// HDRM's node of each rank on a BiGraph, every node once. Precondition: hdrm runs there.
[[nodiscard]] std::vector<NodeId> hdrm_ranks(const Topology& topology);

}  // namespace espalier
