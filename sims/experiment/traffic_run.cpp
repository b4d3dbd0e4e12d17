// Synthetic traffic, and control messages alone on an idle network.
#include <nlohmann/json.hpp>

#include "sims/choose/certify_point.h"
#include "sims/experiment/describe_outcome.h"
#include "sims/experiment/point_run.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

class TrafficRun : public PointRun {
 public:
  using PointRun::PointRun;

  void describe(Json& result) const override {
    const TrafficConfig& traffic = *point().traffic;
    // The messages of a file and of sockets have neither one size nor one rate.
    const bool is_drawn = traffic.is_drawn();
    result["traffic"] = name_of(traffic.pattern);
    result["topology"] = topology().name();
    result["nodes"] = topology().num_nodes();
    if (is_drawn) result["message_bytes"] = traffic.message_bytes;
    result["flow_control"] = name_of(point().system.flow_control.mode);
    result["fidelity"] = name_of(chosen_fidelity(point()));
    if (is_drawn) result["offered_flits_per_node_cycle"] = traffic.injection_rate;
    // Keep their places beside the offered load.
    if (is_drawn) result["generated_flits_per_node_cycle"] = nullptr;
    result["accepted_flits_per_node_cycle"] = nullptr;
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    return simulate_traffic(topology(), point(), hooks);
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    // A file has no measurement window.
    result["accepted_flits_per_node_cycle"] =
        outcome.cycles == 0 ? 0.0
                            : static_cast<double>(outcome.flits_injected) /
                                  static_cast<double>(outcome.cycles * topology().num_nodes());
    PointRun::describe_outcome(result, outcome);
  }
};

class ControlRun : public PointRun {
 public:
  using PointRun::PointRun;

  void describe(Json& result) const override {
    result["algorithm"] = nullptr;
    result["topology"] = topology().name();
    result["nodes"] = topology().num_nodes();
    result["fidelity"] = name_of(chosen_fidelity(point()));
  }
  std::string certify(Json& result) override {
    if (!point().simulation.check) return {};
    std::string cycle = control_deadlock(topology(), point());
    result["certified"] = cycle.empty();
    return cycle;
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    return simulate_control(topology(), point(), hooks);
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    result["flit_hops"] = outcome.flit_hops;
    describe_control(result, point(), outcome);
    describe_verdict(result, outcome);
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
