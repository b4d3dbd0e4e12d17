// The cost of trees, their dearest way or all messages: a change is followed from its vertices up
// to the roots.
#pragma once

#include "alg/rank_order/order_cost.h"

namespace espalier {

class TreesCost : public OrderCost {
 public:
  TreesCost(const CostModel& model, const CostMatrix& costs);

  void reset(const RankOrder& order) override;
  void change(const std::vector<RankChange>& changes) override;
  void undo() override;
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double guide() const override;

 private:
  struct Vertex {
    Bytes bytes = 0;
    std::uint32_t above = TreeModelEdge::kNothing;
    std::vector<TreeModelEdge> edges;
    Cost cost = 0;
    Cost edge_sum = 0;
  };
  struct OldVertex {
    std::uint32_t vertex;
    Cost cost;
    Cost edge_sum;
  };

  // Returns whether the vertex' cost is another one.
  bool update(std::uint32_t vertex);

  const CostMatrix& costs_;
  bool is_load_;
  std::vector<Vertex> vertices_;                // tree by tree
  std::vector<std::uint32_t> roots_;            // by tree
  std::vector<std::vector<std::uint32_t>> of_;  // by rank: vertices with an edge of it
  std::size_t num_edges_ = 0;
  Cost edge_sum_ = 0;  // of all edges
  // Of the last change.
  std::vector<RankChange> old_nodes_;
  std::vector<OldVertex> old_vertices_;
};

}  // namespace espalier
