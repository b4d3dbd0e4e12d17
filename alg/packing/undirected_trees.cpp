// Disjoint bases of the graphic matroid, every pair of edges repeated as often as it has units.
// A forest takes an element whose ends it does not join. If every forest joins them, an element of
// the cycle that would close moves to another forest: breadth-first search over such exchanges.
#include <algorithm>
#include <numeric>
#include <utility>

#include "alg/packing/tree_packing.h"

namespace espalier {

namespace {

constexpr std::uint32_t kNobody = ~0U;

class ForestPartition {
 public:
  ForestPartition(std::size_t nodes, const std::vector<EdgePair>& pairs, const PackGraph& graph,
                  std::size_t count, const WorkBudget& budget)
      : nodes_(nodes),
        budget_(budget),
        forests_(count, std::vector<std::vector<Arc>>(nodes)),
        rooted_(count),
        part_(nodes) {
    std::iota(part_.begin(), part_.end(), 0U);
    copies_.resize(pairs.size());
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      copies_[p].first = static_cast<std::uint32_t>(elements_.size());
      const PackEdge& e = graph.edges[pairs[p].there];
      const auto copies = std::min<std::int64_t>(pairs[p].units, static_cast<std::int64_t>(count));
      for (std::int64_t c = 0; c < copies; ++c) {
        elements_.push_back({e.from, e.to, static_cast<std::uint32_t>(p), kNobody});
      }
      copies_[p].end = static_cast<std::uint32_t>(elements_.size());
    }
  }

  // All trees grow together from the roots, the lowest tree first, each over the pairs that other
  // trees use least. run() completes trees that remain unfinished.
  void grow(const std::vector<std::uint32_t>& roots) {
    std::vector<std::vector<std::uint32_t>> pairs_of(nodes_);
    std::vector<std::uint32_t> taken(copies_.size(), 0);
    for (std::uint32_t p = 0; p < copies_.size(); ++p) {
      if (copies_[p].first == copies_[p].end) continue;
      pairs_of[elements_[copies_[p].first].a].push_back(p);
      pairs_of[elements_[copies_[p].first].b].push_back(p);
    }
    std::vector<std::vector<std::uint32_t>> depth(forests_.size());
    for (std::size_t f = 0; f < forests_.size(); ++f) {
      depth[f].assign(nodes_, kNobody);
      depth[f][roots[f]] = 0;
    }
    bool grown = true;
    for (std::uint32_t level = 0; grown; ++level) {
      grown = false;
      // In turns, an edge each, so that no tree takes all pairs of a place.
      std::vector<bool> stuck(forests_.size(), false);
      for (bool any = true; any;) {
        any = false;
        for (std::uint32_t f = 0; f < forests_.size(); ++f) {
          if (stuck[f]) continue;
          stuck[f] = !grow_edge(f, level, pairs_of, taken, depth[f]);
          any = any || !stuck[f];
          grown = grown || !stuck[f];
        }
      }
    }
  }

  bool run() {
    // The copies of a pair go to different forests; one pair after the other keeps them balanced.
    const std::size_t wanted = forests_.size() * (nodes_ - 1);
    std::size_t placed = 0;
    for (const Element& e : elements_) placed += e.forest == kNobody ? 0 : 1;
    for (std::uint32_t e = 0; e < elements_.size() && placed < wanted; ++e) {
      if (elements_[e].forest != kNobody || is_full(e)) continue;
      if (budget_.is_spent()) return false;
      if (augment(e)) {
        ++placed;
      } else if (!unite_searched()) {
        return false;
      }
    }
    return placed == wanted;
  }

  // Pair indices by forest.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> forests() const {
    std::vector<std::vector<std::uint32_t>> result(forests_.size());
    for (const Element& e : elements_) {
      if (e.forest != kNobody) result[e.forest].push_back(e.pair);
    }
    return result;
  }

 private:
  struct Element {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t pair;
    std::uint32_t forest;
  };
  struct Arc {
    std::uint32_t to;
    std::uint32_t element;
  };

  // The copies of a pair.
  struct Copies {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  // One more edge from a node at depth `level` of the tree.
  bool grow_edge(std::uint32_t f, std::uint32_t level,
                 const std::vector<std::vector<std::uint32_t>>& pairs_of,
                 std::vector<std::uint32_t>& taken, std::vector<std::uint32_t>& depth) {
    double least = 1;
    std::uint32_t best = kNobody;
    for (std::uint32_t v = 0; v < nodes_; ++v) {
      if (depth[v] != level) continue;
      for (const std::uint32_t p : pairs_of[v]) {
        const Element& e = elements_[copies_[p].first];
        if (depth[e.a == v ? e.b : e.a] != kNobody) continue;
        const double used =
            static_cast<double>(taken[p]) / static_cast<double>(copies_[p].end - copies_[p].first);
        if (used >= least) continue;
        least = used;
        best = p;
      }
    }
    if (best == kNobody) return false;
    const std::uint32_t element = copies_[best].first + taken[best]++;
    const Element& e = elements_[element];
    depth[depth[e.a] == kNobody ? e.a : e.b] = level + 1;
    insert(element, f);
    return true;
  }

  void insert(std::uint32_t e, std::uint32_t forest) {
    Element& element = elements_[e];
    element.forest = forest;
    forests_[forest][element.a].push_back({element.b, e});
    forests_[forest][element.b].push_back({element.a, e});
  }
  void erase(std::uint32_t e) {
    const Element& element = elements_[e];
    for (const std::uint32_t end : {element.a, element.b}) {
      auto& arcs = forests_[element.forest][end];
      arcs.erase(
          std::find_if(arcs.begin(), arcs.end(), [&](const Arc& x) { return x.element == e; }));
    }
  }

  // The forest, rooted: of each component the lowest node.
  struct Rooted {
    bool is_current = false;
    std::vector<Arc> parent;           // by node; a root has itself and no element
    std::vector<std::uint32_t> depth;  // by node
  };

  const Rooted& rooted(std::uint32_t forest) {
    Rooted& r = rooted_[forest];
    if (r.is_current) return r;
    r.is_current = true;
    r.parent.assign(nodes_, {kNobody, kNobody});
    r.depth.assign(nodes_, 0);
    for (std::uint32_t root = 0; root < nodes_; ++root) {
      if (r.parent[root].to != kNobody) continue;
      r.parent[root] = {root, kNobody};
      stack_.assign(1, root);
      while (!stack_.empty()) {
        const std::uint32_t v = stack_.back();
        stack_.pop_back();
        for (const Arc& arc : forests_[forest][v]) {
          if (r.parent[arc.to].to != kNobody) continue;
          r.parent[arc.to] = {v, arc.element};
          r.depth[arc.to] = r.depth[v] + 1;
          stack_.push_back(arc.to);
        }
      }
    }
    return r;
  }

  // The elements of the forest's path between two nodes, in path_ from `to` on; false if it has
  // none.
  bool find_path(std::uint32_t forest, std::uint32_t from, std::uint32_t to) {
    const Rooted& r = rooted(forest);
    path_.clear();
    back_.clear();
    while (from != to) {
      const bool climb_to = r.depth[to] >= r.depth[from];
      std::uint32_t& v = climb_to ? to : from;
      const Arc& up = r.parent[v];
      if (up.element == kNobody) return false;
      (climb_to ? path_ : back_).push_back(up.element);
      v = up.to;
    }
    path_.insert(path_.end(), back_.rbegin(), back_.rend());
    return true;
  }

  bool augment(std::uint32_t start) {
    const bool found = find_exchange(start);
    constexpr std::uint64_t kWorkOfElement = 100;
    budget_.spend(kWorkOfElement * queue_.size() * forests_.size());
    return found;
  }
  bool find_exchange(std::uint32_t start) {
    queue_.assign(1, start);
    reason_.assign(elements_.size(), kNobody);
    reason_[start] = start;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const std::uint32_t e = queue_[head];
      for (std::size_t k = 0; k < forests_.size(); ++k) {
        const auto f = static_cast<std::uint32_t>((k + start) % forests_.size());
        if (elements_[e].forest == f) continue;
        if (!find_path(f, elements_[e].a, elements_[e].b)) {
          place(e, f, start);
          return true;
        }
        for (const std::uint32_t other : path_) {
          if (reason_[other] != kNobody || is_full(other)) continue;
          reason_[other] = e;
          queue_.push_back(other);
        }
      }
    }
    return false;
  }

  // Moves e to the forest, gives its old place to the element that wanted the place, and so on.
  void place(std::uint32_t e, std::uint32_t forest, std::uint32_t start) {
    while (true) {
      const std::uint32_t old = elements_[e].forest;
      if (old != kNobody) {
        erase(e);
        rooted_[old].is_current = false;
      }
      insert(e, forest);
      rooted_[forest].is_current = false;
      if (e == start) return;
      e = reason_[e];
      forest = old;
    }
  }

  // True if every forest already connects the element's ends within its part: then neither the
  // element nor an exchange for it adds an element.
  bool is_full(std::uint32_t e) { return part_of(elements_[e].a) == part_of(elements_[e].b); }
  std::uint32_t part_of(std::uint32_t v) {
    while (part_[v] != v) v = part_[v] = part_[part_[v]];
    return v;
  }

  // After a search without success every forest connects, by the searched elements alone, the nodes
  // that those elements join. They become one part. False if the elements between the parts are too
  // few for all trees (Tutte and Nash-Williams 1961).
  bool unite_searched() {
    for (const std::uint32_t e : queue_) part_[part_of(elements_[e].a)] = part_of(elements_[e].b);
    std::size_t parts = 0;
    for (std::uint32_t v = 0; v < nodes_; ++v) {
      if (part_of(v) == v) ++parts;
    }
    std::size_t between = 0;
    for (const Copies& pair : copies_) {
      if (pair.first != pair.end && !is_full(pair.first)) between += pair.end - pair.first;
    }
    return between >= forests_.size() * (parts - 1);
  }

  std::size_t nodes_;
  WorkBudget budget_;
  std::vector<std::vector<std::vector<Arc>>> forests_;  // by forest, by node
  std::vector<Element> elements_;
  std::vector<Copies> copies_;         // by pair
  std::vector<Rooted> rooted_;         // by forest
  std::vector<std::uint32_t> part_;    // by node: union-find
  std::vector<std::uint32_t> queue_;   // of the last search: elements
  std::vector<std::uint32_t> reason_;  // by element: the element that wants its place
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> path_;
  std::vector<std::uint32_t> back_;
};

// `count` nodes from which the farthest node is nearest, over and over again if there are fewer.
std::vector<std::uint32_t> middle_nodes(const PackGraph& graph, const std::vector<EdgePair>& pairs,
                                        std::size_t count) {
  std::vector<std::uint32_t> edges;
  for (const EdgePair& pair : pairs) {
    if (pair.units != 0) edges.insert(edges.end(), {pair.there, pair.back});
  }
  const EdgesOut out = edges_out(graph, edges);
  std::vector<std::uint32_t> height;
  for (std::uint32_t root = 0; root < graph.nodes; ++root) {
    height.push_back(tree_from(root, graph, out).second);
  }
  const std::uint32_t least = *std::min_element(height.begin(), height.end());
  std::vector<std::uint32_t> middle;
  for (std::uint32_t h = least; h <= least + 1 && middle.size() < count; ++h) {
    for (std::uint32_t v = 0; v < graph.nodes; ++v) {
      if (height[v] == h) middle.push_back(v);
    }
  }
  std::vector<std::uint32_t> roots;
  for (std::size_t i = 0; i < count; ++i) {
    roots.push_back(middle[middle.size() <= count ? i % middle.size() : i * middle.size() / count]);
  }
  return roots;
}

}  // namespace

EdgesOut edges_out(const PackGraph& graph, const std::vector<std::uint32_t>& edges) {
  EdgesOut out(graph.vertices);
  for (const std::uint32_t e : edges) out[graph.edges[e].from].push_back(e);
  return out;
}

std::pair<PackedTree, std::uint32_t> tree_from(std::uint32_t root, const PackGraph& graph,
                                               const EdgesOut& out) {
  std::vector<std::uint32_t> depth(out.size(), kNobody);
  depth[root] = 0;
  std::vector<std::uint32_t> order{root};
  PackedTree tree;
  tree.root = root;
  for (std::size_t head = 0; head < order.size(); ++head) {
    for (const std::uint32_t e : out[order[head]]) {
      const std::uint32_t to = graph.edges[e].to;
      if (depth[to] != kNobody) continue;
      depth[to] = depth[order[head]] + 1;
      order.push_back(to);
      tree.edges.push_back(e);
    }
  }
  return {std::move(tree), depth[order.back()]};
}

PackedTree root_at_centre(const PackGraph& graph, const EdgesOut& tree) {
  PackedTree best;
  std::uint32_t best_height = kNobody;
  for (std::uint32_t root = 0; root < tree.size(); ++root) {
    if (tree[root].empty()) continue;
    auto [rooted, height] = tree_from(root, graph, tree);
    if (height >= best_height) continue;
    best_height = height;
    best = std::move(rooted);
  }
  return best;
}

std::optional<std::vector<PackedTree>> pack_undirected_trees(const PackGraph& graph,
                                                             const std::vector<EdgePair>& pairs,
                                                             std::size_t count,
                                                             const WorkBudget& budget) {
  ForestPartition partition(graph.nodes, pairs, graph, count, budget);
  partition.grow(middle_nodes(graph, pairs, count));
  if (!partition.run()) return std::nullopt;
  std::vector<PackedTree> trees;
  for (const auto& forest : partition.forests()) {
    std::vector<std::uint32_t> edges;
    for (const std::uint32_t p : forest) {
      edges.insert(edges.end(), {pairs[p].there, pairs[p].back});
    }
    trees.push_back(root_at_centre(graph, edges_out(graph, edges)));
  }
  return trees;
}

}  // namespace espalier
