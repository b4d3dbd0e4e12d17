#include "alg/plans/planner.h"

#include <algorithm>

namespace espalier {

namespace {
constexpr auto kReductionOps = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                CollectiveOp::all_gather};
}  // namespace

const std::vector<Planner>& planners() {
  static const std::vector<Planner> table{
      {"baseline", "multi-rail hierarchical: dim1 to dimD and back, in fixed order", kReductionOps,
       plan_baseline},
      {"themis", "every chunk its own order of dimensions, by load (Algorithm 1)", kReductionOps,
       plan_themis},
  };
  return table;
}

const Planner* find_planner(const std::string& name) {
  const auto& table = planners();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Planner& p) { return p.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string unsuited_for_planners(const Topology& topology) {
  if (topology.dimensions()) return {};
  return "It plans the stages of a multi-dimensional system (system.topology.type: dimensions).";
}

}  // namespace espalier
