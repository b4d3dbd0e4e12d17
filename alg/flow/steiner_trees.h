// Trees over some vertices of a graph, the terminals, and any others: as many as wanted, each with
// an equal share of its item's bytes, so that the busiest link is as little busy as possible. Found
// by prices on links: a tree is taken off the busiest links and grown anew where links are cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace espalier {

struct SteinerEdge {
  std::uint32_t a = 0;  // vertices
  std::uint32_t b = 0;
  std::vector<std::uint32_t> links;  // that a tree fills with this edge
  std::vector<double> hold = {};     // by entry of `links`: times the load; empty: 1 each
};

// What several trees share: bytes for the terminals.
struct SteinerItem {
  std::vector<std::uint32_t> terminals;  // two or more; the last one is the root of directed trees
  double bytes = 1;
  std::vector<std::uint32_t> within;  // the only vertices that trees may have; empty: all
};

struct TreeGrowth {
  double least_price = 0.02;  // of an idle link, beside 1 of the busiest one if it is the fastest
  bool lowest = false;        // cheap ways from the root, not cheap trees
};

class SteinerTrees {
 public:
  struct Tree {
    std::size_t item = 0;
    std::vector<std::uint32_t> edges;
  };

  // `rates`: by link. Directed trees lead from their root along edges from a to b.
  SteinerTrees(std::size_t vertices, std::vector<double> rates, std::vector<SteinerEdge> edges,
               std::vector<SteinerItem> items, bool directed);

  // `counts[i]` trees of item i; empty if some terminal cannot be reached. They are improved until
  // work() is `most_work`.
  [[nodiscard]] std::vector<Tree> find(const std::vector<std::uint32_t>& counts,
                                       const TreeGrowth& growth = {},
                                       std::uint64_t most_work = ~std::uint64_t{0});
  [[nodiscard]] std::uint64_t work() const { return work_; }  // edges looked at, by all calls
  // Of the trees that find() returned last: load / rate of the busiest link. A tree of item 0 is a
  // load of 1.
  [[nodiscard]] double busiest() const { return peak(); }
  // By link: the more of it they use, the more.
  [[nodiscard]] const std::vector<double>& prices(double steepness);
  // Prices by link with which the cheapest trees of all items cost much beside the links' rates: in
  // every phase each item grows a tree, whose links become dearer (Garg, Koenemann 2007). Those
  // after half of the phases, and after all. Empty if some terminal cannot be reached.
  [[nodiscard]] std::vector<std::vector<double>> weighed_prices(std::uint32_t phases);

 private:
  // How a tree reaches a vertex: over an edge, or as two parts that meet there.
  struct Least {
    double cost = kNever;
    std::uint32_t edge = 0;
    std::uint32_t part = 0;
  };
  using Entry = std::pair<double, std::uint32_t>;
  using Frontier = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  [[nodiscard]] double filled(std::size_t link) const { return load_[link] / rates_[link]; }
  [[nodiscard]] double cost(std::uint32_t edge) const {
    double sum = 0;
    const SteinerEdge& e = edges_[edge];
    for (std::size_t i = 0; i < e.links.size(); ++i) sum += price_[e.links[i]] * e.hold[i];
    return sum;
  }
  [[nodiscard]] bool may_pass(std::uint32_t vertex) const {
    return allowed_[item_].empty() || allowed_[item_][vertex];
  }
  [[nodiscard]] double peak() const;
  [[nodiscard]] std::uint32_t other_end(std::uint32_t edge, std::uint32_t vertex) const {
    return edges_[edge].a == vertex ? edges_[edge].b : edges_[edge].a;
  }
  void set_prices(double steepness);
  void set_price(std::size_t link);
  void add_load(const Tree& tree, double change);
  void improve(double steepness);
  bool grow(std::uint32_t tree);
  // Some tree of the item that item_ names; `turn` chooses where an undirected one begins.
  // `fills`: what it takes of links counts at once.
  bool grow_edges(std::size_t turn, bool fills, std::vector<std::uint32_t>& edges);
  bool grow_near(std::uint32_t from, bool fills, std::vector<std::uint32_t>& tree);
  bool grow_least(std::vector<std::uint32_t>& tree);
  [[nodiscard]] std::uint32_t nearest(const std::vector<double>& in_tree);

  std::vector<double> rates_;
  std::vector<SteinerEdge> edges_;
  std::vector<SteinerItem> items_;
  bool directed_;
  std::vector<std::vector<bool>> is_terminal_;    // by item and vertex
  std::vector<std::vector<bool>> allowed_;        // the same; empty: every vertex
  std::vector<std::vector<std::uint32_t>> out_;   // by vertex: edges that lead away
  std::vector<std::vector<std::uint32_t>> into_;  // undirected: the same ones
  double fastest_;                                // rate
  std::vector<Tree> trees_;
  std::vector<double> weight_;  // by item: the load of a tree
  std::vector<double> load_;    // by link
  std::vector<double> price_;
  std::size_t item_ = 0;  // of the tree that grows
  std::uint64_t work_ = 0;
  double peak_ = 0;
  double steepness_ = 0;
  TreeGrowth growth_;
  std::mt19937 random_{1};
  std::vector<Least> least_;  // by set of terminals and vertex
  std::vector<double> cost_;
  std::vector<std::uint32_t> came_by_;
};

}  // namespace espalier
