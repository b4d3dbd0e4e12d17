#include "alg/rank_order/tree_models.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace espalier {

namespace {

using Index = std::int64_t;  // segments may be empty, and printed children lie outside of them

class SegmentTree {
 public:
  SegmentTree(std::size_t ranks, Bytes bytes, bool printed)
      : ranks_(static_cast<Index>(ranks)), printed_(printed) {
    model_.bytes = bytes;
    const std::uint32_t root = add_segment(0, ranks_ - 1);
    if (root == TreeModelEdge::kNothing) model_.vertices.emplace_back();
  }

  [[nodiscard]] TreeModel take() { return std::move(model_); }

 private:
  // The vertex of segment i..j; nothing where it costs nothing.
  std::uint32_t add_segment(Index i, Index j) {
    if (i >= j) return TreeModelEdge::kNothing;
    const Index m = (i + j) / 2;
    std::vector<TreeModelEdge> edges;
    add_side(m, i, m - 1, printed_ ? (3 * i + j) / 2 - 1 : (i + m - 1) / 2, edges);
    add_side(m, m + 1, j, printed_ ? (i + 3 * j) / 2 + 1 : (m + 1 + j) / 2, edges);
    model_.vertices.push_back(std::move(edges));
    return static_cast<std::uint32_t>(model_.vertices.size() - 1);
  }

  void add_side(Index root, Index begin, Index end, Index child,
                std::vector<TreeModelEdge>& edges) {
    if (begin > end && !printed_) return;
    const std::uint32_t below = add_segment(begin, end);
    edges.push_back({{wrapped(root), wrapped(child)}, below});
  }

  [[nodiscard]] std::uint32_t wrapped(Index rank) const {
    return static_cast<std::uint32_t>((rank % ranks_ + ranks_) % ranks_);
  }

  Index ranks_;
  bool printed_;
  TreeModel model_;
};

std::vector<TreeModel> with_decremented(TreeModel first, std::size_t ranks) {
  TreeModel second = first;
  const auto n = static_cast<std::uint32_t>(ranks);
  for (auto& vertex : second.vertices) {
    for (TreeModelEdge& edge : vertex) {
      edge.pair = {(edge.pair.a + n - 1) % n, (edge.pair.b + n - 1) % n};
    }
  }
  return {std::move(first), std::move(second)};
}

}  // namespace

TreeModel model_of_tree(const RankTree& tree, Bytes bytes) {
  // Deepest first.
  std::vector<std::size_t> order(tree.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tree.depth[a] > tree.depth[b]; });
  std::vector<std::uint32_t> vertex_of(tree.size());
  for (std::size_t v = 0; v < order.size(); ++v) {
    vertex_of[order[v]] = static_cast<std::uint32_t>(v);
  }
  TreeModel model;
  model.bytes = bytes;
  model.vertices.resize(tree.size());
  for (std::size_t r = 0; r < tree.size(); ++r) {
    if (r == tree.root) continue;
    const std::size_t parent = tree.parent[r];
    model.vertices[vertex_of[parent]].push_back(
        {{static_cast<std::uint32_t>(parent), static_cast<std::uint32_t>(r)}, vertex_of[r]});
  }
  return model;
}

std::vector<TreeModel> midpoint_trees(std::size_t ranks, Bytes bytes) {
  return with_decremented(SegmentTree(ranks, bytes, false).take(), ranks);
}

std::vector<TreeModel> printed_trees(std::size_t ranks, Bytes bytes) {
  return with_decremented(SegmentTree(ranks, bytes, true).take(), ranks);
}

}  // namespace espalier
