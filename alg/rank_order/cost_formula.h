// The cost of an order by a model, for any cost of a pair of ranks.
#pragma once

#include <algorithm>
#include <vector>

#include "alg/rank_order/order_model.h"

namespace espalier {

// Calls visit(pair, bytes) for every message. The printed formulas contain pairs of a rank with
// itself, which are not messages.
template <class Visit>
void for_each_message(const CostModel& model, Visit&& visit) {
  const auto one = [&](const RankPair& pair, Bytes bytes) {
    if (pair.a != pair.b) visit(pair, bytes);
  };
  for (const CostRound& round : model.rounds) {
    for (const RankPair& pair : round.pairs) one(pair, round.bytes);
  }
  for (const TreeModel& tree : model.trees) {
    for (const auto& vertex : tree.vertices) {
      for (const TreeModelEdge& edge : vertex) one(edge.pair, tree.bytes);
    }
  }
}

// The most expensive path from the root. `of_vertex` is working memory.
template <class Hop>
Cost cost_of_tree(const TreeModel& tree, Hop&& hop, std::vector<Cost>& of_vertex) {
  of_vertex.assign(tree.vertices.size(), 0);
  for (std::size_t v = 0; v < tree.vertices.size(); ++v) {
    for (const TreeModelEdge& edge : tree.vertices[v]) {
      Cost cost = edge.pair.a == edge.pair.b ? 0 : hop(edge.pair, tree.bytes);
      if (edge.below != TreeModelEdge::kNothing) cost += of_vertex[edge.below];
      of_vertex[v] = std::max(of_vertex[v], cost);
    }
  }
  return of_vertex.back();
}

// hop(pair, bytes) is a pair's cost. The result is monotonic in each of them.
template <class Hop>
Cost cost_by(const CostModel& model, Hop&& hop, std::vector<Cost>& of_vertex) {
  Cost total = 0;
  if (model.objective == OrderObjective::load) {
    for_each_message(model, [&](const RankPair& pair, Bytes bytes) { total += hop(pair, bytes); });
    return total;
  }
  for (const CostRound& round : model.rounds) {
    Cost slowest = 0;
    for (const RankPair& pair : round.pairs) slowest = std::max(slowest, hop(pair, round.bytes));
    total = model.objective == OrderObjective::max ? std::max(total, slowest) : total + slowest;
  }
  for (const TreeModel& tree : model.trees) {
    total = std::max(total, cost_of_tree(tree, hop, of_vertex));
  }
  return total;
}

}  // namespace espalier
