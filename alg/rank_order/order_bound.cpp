#include "alg/rank_order/order_bound.h"

#include "alg/rank_order/bound_parts.h"

namespace espalier {

OrderBound order_bound(const CostModel& model, const CostMatrix& costs) {
  if (model.is_ring) {
    const std::vector<Cost> hops = costs.costs(model.rounds.front().bytes);
    if (model.objective == OrderObjective::max) {
      return {bottleneck_ring_bound(hops, costs.nodes()), "biconnected bottleneck"};
    }
    return {one_tree_bound(hops, costs.nodes()), "1-tree"};
  }
  if (model.objective == OrderObjective::load) {
    return {load_bound(model, costs), "nearest partners of every rank"};
  }
  if (model.has_trees()) return {trees_bound(model, costs), "deepest walks"};
  return {rounds_bound(model, costs), "degrees and parts of the rounds"};
}

}  // namespace espalier
