// Synthetic traffic, and control messages alone on an idle network.
#include <nlohmann/json.hpp>

#include "sims/choose/certify_point.h"
#include "sims/experiment/result_parts.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

class TrafficRun : public PointRun {
 public:
  using PointRun::PointRun;

  void describe(Json& result) const override { write_fields(result, TrafficResult{facts()}); }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    return simulate_traffic(topology(), point(), hooks);
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, TrafficOutcome{facts(), outcome});
    PointRun::describe_outcome(result, outcome);
  }
};

class ControlRun : public PointRun {
 public:
  using PointRun::PointRun;

  void describe(Json& result) const override { write_fields(result, ControlRunResult{facts()}); }
  std::string certify(Json& result) override {
    if (!point().simulation.check) return {};
    std::string cycle = control_deadlock(topology(), point());
    write_fields(result, Certified{cycle.empty()});
    return cycle;
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    return simulate_control(topology(), point(), hooks);
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, ControlOutcome{{point(), outcome}});
  }
};

}  // namespace

std::unique_ptr<PointRun> make_traffic_run(const PointInput& input) {
  return std::make_unique<TrafficRun>(input);
}

std::unique_ptr<PointRun> make_control_run(const PointInput& input) {
  return std::make_unique<ControlRun>(input);
}

}  // namespace espalier
