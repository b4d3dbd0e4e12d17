// Trees over some vertices of a graph, the terminals, and any others: as many as wanted, each with
// an equal share of what flows, so that the busiest edge is as little busy as possible. Found by
// prices on edges: a tree is taken off the busiest edges and grown anew where edges are cheap.
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
  double rate = 0;
};

class SteinerTrees {
 public:
  // Precondition: two terminals or more.
  SteinerTrees(std::size_t vertices, std::vector<std::uint32_t> terminals,
               std::vector<SteinerEdge> edges);

  // `count` trees, as edge numbers; empty if some terminal cannot be reached.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> find(std::uint32_t count);
  // Of the trees that find() returned last: trees / rate of the busiest edge.
  [[nodiscard]] double busiest() const { return peak(); }
  // By edge: the more of it they use, the more.
  [[nodiscard]] const std::vector<double>& prices(double steepness);

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

  [[nodiscard]] double filled(std::size_t edge) const { return load_[edge] / edges_[edge].rate; }
  [[nodiscard]] double peak() const;
  [[nodiscard]] std::uint32_t other_end(std::uint32_t edge, std::uint32_t vertex) const {
    return edges_[edge].a == vertex ? edges_[edge].b : edges_[edge].a;
  }
  void set_prices(double steepness);
  void set_price(std::size_t edge);
  void add_load(const std::vector<std::uint32_t>& tree, double change);
  void improve(double steepness);
  bool grow(std::uint32_t tree);
  bool grow_near(std::uint32_t from, std::vector<std::uint32_t>& tree);
  bool grow_least(std::vector<std::uint32_t>& tree);
  [[nodiscard]] std::uint32_t nearest(const std::vector<bool>& in_tree);

  std::vector<std::uint32_t> terminals_;
  std::vector<SteinerEdge> edges_;
  std::vector<bool> is_terminal_;               // by vertex
  std::vector<std::vector<std::uint32_t>> at_;  // by vertex: edges
  std::vector<std::vector<std::uint32_t>> trees_;
  std::vector<double> load_;  // trees, by edge
  std::vector<double> price_;
  double peak_ = 0;
  double steepness_ = 0;
  std::mt19937 random_{1};
  std::vector<Least> least_;  // by set of terminals and vertex
  std::vector<double> cost_;
  std::vector<std::uint32_t> came_by_;
};

}  // namespace espalier
