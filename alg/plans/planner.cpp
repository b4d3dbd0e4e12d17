#include "alg/plans/planner.h"

#include <algorithm>

namespace espalier {

namespace {

Planner planner_row(const char* name, const char* summary, decltype(Planner::plan) plan) {
  Planner row;
  row.name = name;
  row.summary = summary;
  row.ops = reduction_ops();
  row.parameters = {{"collective.chunks", {}}, {"collective.parts", {}}};
  row.fixed_ranks = "its NPUs' places in the dimensions are their ranks";
  row.plan = plan;
  return row;
}

Planner baseline_row() {
  return planner_row("baseline", "multi-rail hierarchical: dim1 to dimD and back, in fixed order",
                     plan_baseline);
}

Planner themis_row() {
  Planner row = planner_row(
      "themis", "every chunk its own order of dimensions, by load (Algorithm 1)", plan_themis);
  row.parameters.push_back({"collective.threshold_divisor", {}});
  row.parameters.push_back({"collective.loads_start_at_fixed_delay", {}});
  return row;
}

}  // namespace

const std::vector<Planner>& planners() {
  static const std::vector<Planner> table{baseline_row(), themis_row()};
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
