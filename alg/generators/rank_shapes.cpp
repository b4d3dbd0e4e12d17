#include "alg/generators/rank_shapes.h"

#include <fmt/format.h>

namespace espalier {
namespace {

// A rank whose lowest set bit is bit b has its parent at distance 2^b: upwards if bit b+1 is 0 and
// the rank above exists, otherwise downwards.
std::size_t parent_of(std::size_t rank, std::size_t ranks) {
  const std::size_t lowest = rank & (~rank + 1);
  const std::size_t cleared = rank ^ lowest;
  const std::size_t above = cleared | lowest << 1U;
  return above < ranks ? above : cleared;
}

template <class Rename>
RankTree renamed(const RankTree& tree, Rename rename) {
  RankTree result;
  result.root = rename(tree.root);
  result.parent.resize(tree.size());
  result.depth.resize(tree.size());
  for (std::size_t r = 0; r < tree.size(); ++r) {
    result.parent[rename(r)] = rename(tree.parent[r]);
    result.depth[rename(r)] = tree.depth[r];
  }
  return result;
}

bool is_power_of(std::size_t nodes, std::size_t base) {
  while (nodes % base == 0) nodes /= base;
  return nodes == 1;
}

}  // namespace

RankTree make_binary_tree(std::size_t ranks) {
  RankTree tree;
  tree.parent.assign(ranks, 0);
  tree.depth.assign(ranks, 0);
  for (std::size_t r = 1; r < ranks; ++r) tree.parent[r] = parent_of(r, ranks);
  for (std::size_t r = 1; r < ranks; ++r) {
    for (std::size_t at = r; at != tree.root; at = tree.parent[at]) ++tree.depth[r];
  }
  return tree;
}

std::array<RankTree, 2> make_double_tree(std::size_t ranks) {
  const RankTree first = make_binary_tree(ranks);
  return {first, ranks % 2 == 0 ? renamed(first, [&](std::size_t r) { return ranks - 1 - r; })
                                : renamed(first, [&](std::size_t r) { return (r + 1) % ranks; })};
}

std::string unsuited_for_bcube(std::size_t nodes, std::uint32_t base) {
  if (base >= 2 && nodes >= base && is_power_of(nodes, base)) return {};
  return fmt::format(
      "bcube needs a number of nodes that is a power of its base; {} nodes are not a power of {}",
      nodes, base);
}

std::uint32_t smallest_bcube_base(std::size_t nodes) {
  std::uint32_t base = 2;
  while (base < nodes && !is_power_of(nodes, base)) ++base;
  return base;
}

}  // namespace espalier
