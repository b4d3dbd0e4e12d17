// The time of a workload's operations by forecast, without a simulation.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "alg/plans/order_forecast.h"
#include "alg/plans/planner.h"
#include "hw/topology/link_timing.h"
#include "sims/experiment/training_work.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/config.h"

namespace espalier::test {

// A plan of `algorithm` (a planner) for an idle network, forecast.
class ForecastCost {
 public:
  ForecastCost(const Topology& topology, const RunPoint& point, ParallelGroups groups,
               const std::string& algorithm, PlanRequest request)
      : system_(cost_system(topology, point)),
        forecast_(forecast_spec(topology, point, system_.planned)),
        cycle_ns_(nanoseconds(1, point.system.clock)),
        groups_(std::move(groups)),
        planner_(find_planner(algorithm)),
        request_(request) {
    if (planner_ == nullptr) throw std::invalid_argument("'" + algorithm + "' is not a planner");
  }

  double operator()(const CommunicationOp& op) {
    const std::tuple key{op.op, op.bytes, op.scope};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    return known_.emplace(key, forecast(op)).first->second;
  }

 private:
  [[nodiscard]] double forecast(const CommunicationOp& op) const {
    const LogicalGroup& group = groups_.of(op.scope);
    if (group.empty() || op.bytes == 0) return 0;
    if (op.op == CollectiveOp::all_to_all) {
      return all_to_all_ns(op.bytes, group, system_, request_.chunks);
    }
    ForecastSpec spec = forecast_;
    spec.dimensions.clear();
    for (const GroupDimension& part : group) {
      spec.dimensions.push_back(forecast_.dimensions[part.dimension]);
    }
    PlanRequest request = request_;
    request.op = op.op;
    request.size = op.bytes;
    const ForecastPlan plan = forecast_plan(
        *planner_, planned_for(group, system_.dimensions, system_.planned), request, spec);
    return static_cast<double>(plan.forecast) * cycle_ns_;
  }

  CostSystem system_;
  ForecastSpec forecast_;
  double cycle_ns_;
  ParallelGroups groups_;
  const Planner* planner_;
  PlanRequest request_;
  std::map<std::tuple<CollectiveOp, Bytes, CommunicationScope>, double> known_;
};

}  // namespace espalier::test
