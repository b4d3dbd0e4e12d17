#include "alg/rank_order/order_cost.h"

#include <algorithm>

#include "alg/rank_order/ring_cost.h"

namespace espalier {

namespace {

// The cost of rounds: of their slowest pairs, or of all messages.
class RoundsCost : public OrderCost {
 public:
  RoundsCost(const CostModel& model, const CostMatrix& costs)
      : OrderCost(model),
        costs_(costs),
        is_load_(model.objective == OrderObjective::load),
        of_(model.ranks) {
    for (const CostRound& round : model.rounds) {
      const std::size_t begin = pairs_.size();
      for (const RankPair& ranks : round.pairs) {
        const auto id = static_cast<std::uint32_t>(pairs_.size());
        of_[ranks.a].push_back(id);
        of_[ranks.b].push_back(id);
        pairs_.push_back({ranks, static_cast<std::uint32_t>(rounds_.size())});
      }
      rounds_.push_back({round.bytes, begin, pairs_.size()});
    }
    lost_max_.resize(rounds_.size());
  }

  void reset(const RankOrder& order) override {
    place_all(order);
    pair_costs_.resize(pairs_.size());
    for (std::size_t p = 0; p < pairs_.size(); ++p) pair_costs_[p] = cost_of(pairs_[p]);
    for (Round& round : rounds_) {
      round.max = 0;
      round.sum = 0;
      for (std::size_t p = round.begin; p < round.end; ++p) {
        round.max = std::max(round.max, pair_costs_[p]);
        round.sum += pair_costs_[p];
      }
    }
  }

  void change(const std::vector<RankChange>& changes) override {
    place(changes);
    for (const RankChange& c : changes) {
      for (const std::uint32_t pair : of_[c.rank]) set_pair(pair);
    }
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      if (!lost_max_[r]) continue;
      lost_max_[r] = false;
      const auto first = pair_costs_.begin() + static_cast<std::ptrdiff_t>(rounds_[r].begin);
      const auto last = pair_costs_.begin() + static_cast<std::ptrdiff_t>(rounds_[r].end);
      rounds_[r].max = *std::max_element(first, last);
    }
  }

  [[nodiscard]] Cost cost() const override {
    Cost total = 0;
    for (const Round& round : rounds_) total += is_load_ ? round.sum : round.max;
    return total;
  }

  [[nodiscard]] double guide() const override {
    if (is_load_) return static_cast<double>(cost());
    double means = 0;
    for (const Round& round : rounds_) {
      means += static_cast<double>(round.sum) / static_cast<double>(round.end - round.begin);
    }
    return static_cast<double>(cost()) + kGuideShare * means;
  }

 private:
  struct Pair {
    RankPair ranks;
    std::uint32_t round = 0;
  };
  struct Round {
    Bytes bytes = 0;
    std::size_t begin = 0;  // pairs [begin, end)
    std::size_t end = 0;
    Cost max = 0;
    Cost sum = 0;
  };

  // Called twice for a pair if both its ranks change. The second call changes nothing.
  void set_pair(std::uint32_t pair) {
    const Cost before = pair_costs_[pair];
    const Cost now = cost_of(pairs_[pair]);
    if (now == before) return;
    const std::uint32_t r = pairs_[pair].round;
    Round& round = rounds_[r];
    pair_costs_[pair] = now;
    round.sum += now;
    round.sum -= before;
    if (before == round.max && now < before) lost_max_[r] = true;
    if (now >= round.max) {
      round.max = now;
      lost_max_[r] = false;
    }
  }

  [[nodiscard]] Cost cost_of(const Pair& pair) const {
    return costs_.cost(order_[pair.ranks.a], order_[pair.ranks.b], rounds_[pair.round].bytes);
  }

  const CostMatrix& costs_;
  bool is_load_;
  std::vector<Round> rounds_;
  std::vector<Pair> pairs_;                     // round by round
  std::vector<Cost> pair_costs_;                // by pair
  std::vector<std::vector<std::uint32_t>> of_;  // by rank: its pairs
  std::vector<bool> lost_max_;                  // by round: the current change removed its maximum
};

// The cost of trees: of their most expensive path, or of all messages. A change is followed from
// its vertices up to the roots.
class TreesCost : public OrderCost {
 public:
  TreesCost(const CostModel& model, const CostMatrix& costs)
      : OrderCost(model),
        costs_(costs),
        is_load_(model.objective == OrderObjective::load),
        of_(model.ranks) {
    for (const TreeModel& tree : model.trees) {
      const auto first = static_cast<std::uint32_t>(vertices_.size());
      vertices_.resize(first + tree.vertices.size());
      for (std::size_t v = 0; v < tree.vertices.size(); ++v) {
        const auto id = first + static_cast<std::uint32_t>(v);
        vertices_[id].bytes = tree.bytes;
        for (TreeModelEdge edge : tree.vertices[v]) {
          for (const std::uint32_t rank : {edge.pair.a, edge.pair.b}) {
            auto& of_rank = of_[rank];
            if (of_rank.empty() || of_rank.back() != id) of_rank.push_back(id);
          }
          if (edge.below != TreeModelEdge::kNothing) {
            edge.below += first;
            vertices_[edge.below].above = id;
          }
          vertices_[id].edges.push_back(edge);
          ++num_edges_;
        }
      }
      roots_.push_back(static_cast<std::uint32_t>(vertices_.size()) - 1);
    }
  }

  void reset(const RankOrder& order) override {
    place_all(order);
    for (std::uint32_t v = 0; v < vertices_.size(); ++v) update(v);
  }

  void change(const std::vector<RankChange>& changes) override {
    place(changes);
    for (const RankChange& c : changes) {
      for (std::uint32_t v : of_[c.rank]) {
        while (update(v) && vertices_[v].above != TreeModelEdge::kNothing) v = vertices_[v].above;
      }
    }
  }

  [[nodiscard]] Cost cost() const override {
    if (is_load_) return edge_sum_;
    Cost most = 0;
    for (const std::uint32_t root : roots_) most = std::max(most, vertices_[root].cost);
    return most;
  }

  // The guide's share contains the paths of both trees, and an estimate of a path: the mean edge
  // times the edges of a path.
  [[nodiscard]] double guide() const override {
    if (is_load_) return static_cast<double>(cost());
    double roots = 0;
    for (const std::uint32_t root : roots_) roots += static_cast<double>(vertices_[root].cost);
    const double edges = static_cast<double>(std::max<std::size_t>(num_edges_, 1));
    return static_cast<double>(cost()) +
           kGuideShare * (roots / static_cast<double>(roots_.size()) +
                          4.0 * static_cast<double>(edge_sum_) / edges);
  }

 private:
  struct Vertex {
    Bytes bytes = 0;
    std::uint32_t above = TreeModelEdge::kNothing;
    std::vector<TreeModelEdge> edges;
    Cost cost = 0;
    Cost edge_sum = 0;
  };

  // Returns whether the vertex' cost has changed.
  bool update(std::uint32_t id) {
    Vertex& vertex = vertices_[id];
    const Cost old_cost = vertex.cost;
    edge_sum_ -= vertex.edge_sum;
    vertex.cost = 0;
    vertex.edge_sum = 0;
    for (const TreeModelEdge& edge : vertex.edges) {
      const bool itself = edge.pair.a == edge.pair.b;
      const Cost hop =
          itself ? 0 : costs_.cost(order_[edge.pair.a], order_[edge.pair.b], vertex.bytes);
      const Cost below = edge.below == TreeModelEdge::kNothing ? 0 : vertices_[edge.below].cost;
      vertex.edge_sum += hop;
      vertex.cost = std::max(vertex.cost, hop + below);
    }
    edge_sum_ += vertex.edge_sum;
    return old_cost != vertex.cost;
  }
  const CostMatrix& costs_;
  bool is_load_;
  std::vector<Vertex> vertices_;                // tree by tree
  std::vector<std::uint32_t> roots_;            // by tree
  std::vector<std::vector<std::uint32_t>> of_;  // by rank: vertices with one of its edges
  std::size_t num_edges_ = 0;
  Cost edge_sum_ = 0;  // of all edges
};

}  // namespace

std::unique_ptr<OrderCost> make_order_cost(const CostModel& model, const CostMatrix& costs) {
  if (model.is_ring) return std::make_unique<RingCost>(model, costs);
  if (model.has_trees()) return std::make_unique<TreesCost>(model, costs);
  return std::make_unique<RoundsCost>(model, costs);
}

}  // namespace espalier
