#include "alg/tree_forest.h"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

// One tree while it grows.
class GrowingTree {
 public:
  GrowingTree(NodeId root, const Topology& topology)
      : topology_(topology), has_(topology.num_nodes(), false), frontier_{root} {
    has_[root.index()] = true;
  }

  [[nodiscard]] bool complete() const { return edges_.size() + 1 == topology_.num_nodes(); }
  [[nodiscard]] const std::vector<TreeEdge>& edges() const { return edges_; }

  // Nodes added from here on become parents only in later timesteps. A member that has no neighbour
  // outside the tree can never become a parent again and leaves the frontier for good.
  void begin_timestep() {
    const auto enclosed = [&](NodeId p) {
      const auto& out = topology_.out_links(p);
      return std::all_of(out.begin(), out.end(),
                         [&](LinkId l) { return has_[topology_.link(l).to.index()]; });
    };
    frontier_.erase(std::remove_if(frontier_.begin(), frontier_.end(), enclosed), frontier_.end());
    candidates_ = frontier_.size();
    next_candidate_ = 0;
  }

  // One turn: connects one node over a link that is still free, or returns false. A parent without
  // a free useful link has none later in the timestep either (links are only taken, and only this
  // tree adds to itself), so the search resumes where the last one stopped.
  bool take_turn(std::vector<bool>& link_free, Timestep step) {
    for (; next_candidate_ < candidates_; ++next_candidate_) {
      const NodeId parent = frontier_[next_candidate_];
      for (const LinkId l : topology_.out_links(parent)) {
        const NodeId child = topology_.link(l).to;
        if (!link_free[l.index()] || has_[child.index()]) continue;
        link_free[l.index()] = false;
        has_[child.index()] = true;
        frontier_.push_back(child);
        edges_.push_back({parent, child, l, step});
        return true;
      }
    }
    return false;
  }

  // The largest distance from the tree to a node it lacks (section III-C2's priority for irregular
  // networks).
  [[nodiscard]] std::uint32_t remaining_height() const {
    std::vector<bool> reached = has_;
    std::vector<NodeId> level;
    for (std::size_t n = 0; n < has_.size(); ++n) {
      if (has_[n]) level.emplace_back(n);
    }
    std::uint32_t height = 0;
    while (true) {
      std::vector<NodeId> next;
      for (const NodeId v : level) {
        for (const LinkId l : topology_.out_links(v)) {
          const NodeId w = topology_.link(l).to;
          if (reached[w.index()]) continue;
          reached[w.index()] = true;
          next.push_back(w);
        }
      }
      if (next.empty()) return height;
      ++height;
      level = std::move(next);
    }
  }

 private:
  const Topology& topology_;
  std::vector<bool> has_;
  std::vector<NodeId> frontier_;  // members that may still become parents, in the order of adding
  std::vector<TreeEdge> edges_;
  std::size_t candidates_ = 0;  // frontier_[0, candidates_) were added in earlier timesteps
  std::size_t next_candidate_ = 0;
};

std::vector<std::size_t> turn_order(const std::vector<GrowingTree>& trees,
                                    CollectiveRequest::TreeOrder order) {
  std::vector<std::size_t> turns(trees.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  if (order == CollectiveRequest::TreeOrder::remaining_height) {
    std::vector<std::uint32_t> height;
    height.reserve(trees.size());
    for (const GrowingTree& tree : trees) height.push_back(tree.remaining_height());
    std::stable_sort(turns.begin(), turns.end(),
                     [&](std::size_t a, std::size_t b) { return height[a] > height[b]; });
  }
  return turns;
}

}  // namespace

TreeForest build_trees(const Topology& topology, CollectiveRequest::TreeOrder order) {
  std::vector<GrowingTree> trees;
  trees.reserve(topology.num_nodes());
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) trees.emplace_back(NodeId(n), topology);

  TreeForest forest;
  const auto incomplete = [](const GrowingTree& tree) { return !tree.complete(); };
  while (std::any_of(trees.begin(), trees.end(), incomplete)) {
    const Timestep step = ++forest.num_steps;
    std::vector<bool> link_free(topology.num_links(), true);
    std::vector<std::size_t> turns = turn_order(trees, order);
    for (GrowingTree& tree : trees) tree.begin_timestep();
    while (!turns.empty()) {
      turns.erase(
          std::remove_if(turns.begin(), turns.end(),
                         [&](std::size_t t) { return !trees[t].take_turn(link_free, step); }),
          turns.end());
    }
  }
  forest.trees.reserve(trees.size());
  for (const GrowingTree& tree : trees) forest.trees.push_back(tree.edges());
  return forest;
}

}  // namespace espalier
