// Bounds of a ring.
#include <algorithm>
#include <limits>
#include <numeric>

#include "alg/rank_order/order_bound.h"

namespace espalier {

namespace {

using Signed = std::int64_t;
constexpr Signed kFar = std::numeric_limits<Signed>::max();
constexpr std::size_t kClimbs = 300;
constexpr std::size_t kClimbsPerStep = 5;  // number of steps of equal length

// A spanning tree of all nodes except 0, plus the two cheapest hops of node 0. Every ring costs at
// least as much. Penalties at both ends of every hop raise the cost of each ring by twice their
// sum, and the cost of the 1-tree by the sum of penalty times degree.
class OneTree {
 public:
  OneTree(const std::vector<Cost>& hops, std::size_t nodes)
      : hops_(hops), nodes_(nodes), penalty_(nodes, 0), degree_(nodes, 0) {}

  // Returns the tree's cost minus twice the penalties, and sets the degrees.
  Signed build() {
    std::fill(degree_.begin(), degree_.end(), 0);
    Signed cost = span() + close();
    for (const Signed penalty : penalty_) cost -= 2 * penalty;
    return cost;
  }
  [[nodiscard]] bool is_ring() const {
    return std::all_of(degree_.begin(), degree_.end(), [](Signed d) { return d == 2; });
  }
  void climb(Signed step) {
    for (std::size_t n = 0; n < nodes_; ++n) penalty_[n] += step * (degree_[n] - 2);
  }

 private:
  [[nodiscard]] Signed hop(std::size_t a, std::size_t b) const {
    return static_cast<Signed>(hops_[a * nodes_ + b]) + penalty_[a] + penalty_[b];
  }

  Signed span() {
    std::vector<Signed> nearest(nodes_, kFar);
    std::vector<std::size_t> by(nodes_, 1);
    std::vector<bool> in_tree(nodes_, false);
    Signed cost = 0;
    in_tree[1] = true;
    std::size_t newest = 1;
    for (std::size_t added = 2; added < nodes_; ++added) {
      std::size_t next = 0;
      for (std::size_t n = 2; n < nodes_; ++n) {
        if (in_tree[n]) continue;
        if (const Signed cost_here = hop(newest, n); cost_here < nearest[n]) {
          nearest[n] = cost_here;
          by[n] = newest;
        }
        if (next == 0 || nearest[n] < nearest[next]) next = n;
      }
      in_tree[next] = true;
      cost += nearest[next];
      ++degree_[next];
      ++degree_[by[next]];
      newest = next;
    }
    return cost;
  }

  Signed close() {
    std::size_t first = 1;
    std::size_t second = 2;
    if (hop(0, second) < hop(0, first)) std::swap(first, second);
    for (std::size_t n = 3; n < nodes_; ++n) {
      if (hop(0, n) < hop(0, first)) {
        second = first;
        first = n;
      } else if (hop(0, n) < hop(0, second)) {
        second = n;
      }
    }
    degree_[0] = 2;
    ++degree_[first];
    ++degree_[second];
    return hop(0, first) + hop(0, second);
  }

  const std::vector<Cost>& hops_;
  std::size_t nodes_;
  std::vector<Signed> penalty_;
  std::vector<Signed> degree_;
};

// Determines whether the network of the hops up to `limit` has a cut node (Hopcroft, Tarjan).
class CutNodes {
 public:
  CutNodes(const std::vector<Cost>& hops, std::size_t nodes, Cost limit)
      : hops_(hops), nodes_(nodes), limit_(limit), found_(nodes, 0), low_(nodes, 0) {}

  [[nodiscard]] bool none() {
    const bool root_is_cut = visit_all();
    const bool connected =
        std::all_of(found_.begin(), found_.end(), [](std::size_t f) { return f != 0; });
    return connected && !root_is_cut && !has_cut_;
  }

 private:
  struct Frame {
    std::size_t node;
    std::size_t parent;
    std::size_t next;
  };

  // Without recursion, because the search can be as deep as the number of nodes.
  bool visit_all() {
    std::size_t children_of_root = 0;
    std::vector<Frame> stack{{0, nodes_, 0}};
    found_[0] = low_[0] = ++time_;
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == nodes_) {
        const Frame done = top;
        stack.pop_back();
        if (stack.empty()) break;
        const std::size_t parent = done.parent;
        low_[parent] = std::min(low_[parent], low_[done.node]);
        if (parent == 0) {
          ++children_of_root;
        } else if (low_[done.node] >= found_[parent]) {
          has_cut_ = true;
        }
        continue;
      }
      const std::size_t to = top.next++;
      if (to == top.node || to == top.parent || hops_[top.node * nodes_ + to] > limit_) continue;
      if (found_[to] != 0) {
        low_[top.node] = std::min(low_[top.node], found_[to]);
        continue;
      }
      found_[to] = low_[to] = ++time_;
      stack.push_back({to, top.node, 0});
    }
    return children_of_root > 1;
  }

  const std::vector<Cost>& hops_;
  std::size_t nodes_;
  Cost limit_;
  std::vector<std::size_t> found_;  // time of the visit, from 1; 0: not visited
  std::vector<std::size_t> low_;
  std::size_t time_ = 0;
  bool has_cut_ = false;
};

// A common divisor of all hops divides the cost of every ring, so the bound is rounded up to a
// multiple.
Cost rounded_up(Cost bound, const std::vector<Cost>& hops) {
  Cost divisor = 0;
  for (const Cost hop : hops) divisor = std::gcd(divisor, hop);
  return divisor == 0 ? bound : (bound + divisor - 1) / divisor * divisor;
}

}  // namespace

Cost one_tree_bound(const std::vector<Cost>& hops, std::size_t nodes) {
  if (nodes < 3) return 2 * hops[1];
  OneTree tree(hops, nodes);
  Signed best = tree.build();
  Signed step = std::max<Signed>(1, best / static_cast<Signed>(nodes) / 2);
  for (std::size_t climb = 0; climb < kClimbs && !tree.is_ring(); ++climb) {
    tree.climb(step);
    best = std::max(best, tree.build());
    if (climb % kClimbsPerStep == 0) step = std::max<Signed>(1, step - step / 8);
  }
  return rounded_up(static_cast<Cost>(std::max<Signed>(best, 0)), hops);
}

Cost bottleneck_ring_bound(const std::vector<Cost>& hops, std::size_t nodes) {
  if (nodes < 3) return hops[1];
  std::vector<Cost> limits = hops;
  std::sort(limits.begin(), limits.end());
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  std::size_t low = 0;
  std::size_t high = limits.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (CutNodes(hops, nodes, limits[middle]).none()) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return limits[low];
}

}  // namespace espalier
