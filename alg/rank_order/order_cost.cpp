#include "alg/rank_order/order_cost.h"

#include "alg/rank_order/ring_cost.h"
#include "alg/rank_order/rounds_cost.h"
#include "alg/rank_order/trees_cost.h"

namespace espalier {

std::unique_ptr<OrderCost> make_order_cost(const CostModel& model, const CostMatrix& costs) {
  if (model.is_ring) return std::make_unique<RingCost>(model, costs);
  if (model.has_trees()) return std::make_unique<TreesCost>(model, costs);
  return std::make_unique<RoundsCost>(model, costs);
}

}  // namespace espalier
