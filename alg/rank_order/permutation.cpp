#include "alg/rank_order/permutation.h"

#include <numeric>
#include <utility>

namespace espalier {

RankOrder identity_permutation(std::size_t nodes) {
  RankOrder order(nodes);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

RankOrder random_permutation(std::size_t nodes, std::uint64_t seed) {
  RankOrder order = identity_permutation(nodes);
  RandomSource random(seed);
  for (std::size_t left = nodes; left > 1; --left) {
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
  }
  return order;
}

std::vector<NodeId> to_nodes(const RankOrder& order) {
  std::vector<NodeId> nodes;
  nodes.reserve(order.size());
  for (const std::uint32_t node : order) nodes.emplace_back(node);
  return nodes;
}

}  // namespace espalier
