#include "alg/rank_order/trees_cost.h"

#include <algorithm>

namespace espalier {

TreesCost::TreesCost(const CostModel& model, const CostMatrix& costs)
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

bool TreesCost::update(std::uint32_t id) {
  Vertex& vertex = vertices_[id];
  const OldVertex old{id, vertex.cost, vertex.edge_sum};
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
  edge_sum_ -= old.edge_sum;
  if (old.cost != vertex.cost || old.edge_sum != vertex.edge_sum) old_vertices_.push_back(old);
  return old.cost != vertex.cost;
}

void TreesCost::reset(const RankOrder& order) {
  order_ = order;
  for (std::uint32_t v = 0; v < vertices_.size(); ++v) update(v);
  old_nodes_.clear();
  old_vertices_.clear();
}

void TreesCost::change(const std::vector<RankChange>& changes) {
  old_nodes_.clear();
  old_vertices_.clear();
  for (const RankChange& c : changes) {
    old_nodes_.push_back({c.rank, order_[c.rank]});
    order_[c.rank] = c.node;
  }
  for (const RankChange& c : changes) {
    for (std::uint32_t v : of_[c.rank]) {
      while (update(v) && vertices_[v].above != TreeModelEdge::kNothing) v = vertices_[v].above;
    }
  }
}

void TreesCost::undo() {
  for (const RankChange& c : old_nodes_) order_[c.rank] = c.node;
  for (auto old = old_vertices_.rbegin(); old != old_vertices_.rend(); ++old) {
    edge_sum_ += old->edge_sum;
    edge_sum_ -= vertices_[old->vertex].edge_sum;
    vertices_[old->vertex].cost = old->cost;
    vertices_[old->vertex].edge_sum = old->edge_sum;
  }
  old_nodes_.clear();
  old_vertices_.clear();
}

Cost TreesCost::cost() const {
  if (is_load_) return edge_sum_;
  Cost most = 0;
  for (const std::uint32_t root : roots_) most = std::max(most, vertices_[root].cost);
  return most;
}

// Both trees' ways, and the mean edge as often as a way has edges, roughly.
double TreesCost::guide() const {
  if (is_load_) return static_cast<double>(cost());
  double roots = 0;
  for (const std::uint32_t root : roots_) roots += static_cast<double>(vertices_[root].cost);
  const double edges = static_cast<double>(std::max<std::size_t>(num_edges_, 1));
  return static_cast<double>(cost()) + kGuideShare * (roots / static_cast<double>(roots_.size()) +
                                                      4.0 * static_cast<double>(edge_sum_) / edges);
}

}  // namespace espalier
