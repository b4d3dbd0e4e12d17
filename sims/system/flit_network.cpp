#include <fmt/format.h>

#include <algorithm>

#include "ni/flit_injection_port.h"
#include "router/router.h"
#include "router/rtl/rtl_output_hold.h"
#include "sims/point/config.h"
#include "sims/system/network_of.h"

namespace espalier {

namespace {

std::unique_ptr<FlitRouter> make_router(const NetworkPlan& plan, const char* name, NodeId vertex,
                                        const std::vector<InputPortSpec>& inputs,
                                        ClockDomain& clock, const MessageTable& messages,
                                        const PathTable& paths) {
  const RouterConfig& config = plan.config.router;
  const RouterSpec spec{config.vcs,
                        config.hold,
                        config.crossbar_inputs,
                        config.vc_order,
                        plan.timing.ticks_per_cycle,
                        plan.control != nullptr};
  if (plan.is_external(vertex)) {
    const RouterSocketSpec socket{spec, config.switching, plan.topology.in_links(vertex).size()};
    auto router = std::make_unique<RouterSocket>(name, socket, *plan.messages, paths, inputs,
                                                 plan.sockets->clock.watch());
    plan.sockets->clock.add(*router);
    plan.sockets->routers[vertex] = router.get();
    return router;
  }
  const StallPattern stalls{plan.simulation.stall_probability, plan.simulation.seed};
  MakeOutputHold hold;
  if (plan.simulation.has_rtl(RtlBlock::output_hold)) hold = make_rtl_output_hold;
  auto router = std::make_unique<Router>(name, clock, spec, messages, paths, inputs, stalls, hold);
  for (std::size_t i = 0; plan.simulation.monitors && i < inputs.size(); ++i) {
    router->input_channel(i).attach_monitor();
  }
  return router;
}

class FlitNetwork : public NetworkOf<FlitRouter> {
 public:
  FlitNetwork(const NetworkPlan& plan, ClockDomain& clock, const MessageTable& messages,
              const PathTable& paths)
      : NetworkOf(plan,
                  [&](const char* name, NodeId vertex, const std::vector<InputPortSpec>& inputs) {
                    return make_router(plan, name, vertex, inputs, clock, messages, paths);
                  }) {
    for (std::size_t v = 0; v < plan.topology.num_vertices(); ++v) {
      is_external_.push_back(plan.is_external(NodeId(v)));
    }
  }

  std::unique_ptr<InjectionPort> injection_port(NodeId node, std::uint32_t port,
                                                const InjectionSpec& spec,
                                                CreditListener&) override {
    return std::make_unique<FlitInjectionPort>(injection_channel(node, port), spec);
  }

  [[nodiscard]] Channel& injected_channel(NodeId node, std::uint32_t port) override {
    return injection_channel(node, port);
  }

  [[nodiscard]] std::uint64_t flit_hops() const override {
    std::uint64_t hops = 0;
    for (const auto& router : routers()) hops += router->flit_hops();
    return hops;
  }
  [[nodiscard]] std::uint64_t control_flit_hops() const override {
    std::uint64_t hops = 0;
    for (const auto& router : routers()) hops += router->control_flit_hops();
    return hops;
  }
  [[nodiscard]] std::vector<std::uint64_t> link_flits() const override {
    std::vector<std::uint64_t> flits;
    flits.reserve(topology().num_links());
    for (const TopologyLink& link : topology().links()) {
      flits.push_back(routers()[link.to.index()]->input_channel(link.in_port).flits_carried());
    }
    return flits;
  }
  std::string monitor_violation(bool drained) override {
    for (std::size_t v = 0; v < routers().size(); ++v) {
      const auto& router = routers()[v];
      for (std::size_t i = 0; i < router->num_inputs(); ++i) {
        ChannelMonitor* monitor = router->input_channel(i).monitor();
        if (monitor == nullptr) continue;
        // An external router may still have to return the last credits.
        if (drained && !is_external_[v]) monitor->check_drained();
        if (!monitor->violation().empty()) {
          return fmt::format("{}: {}", router->input_channel(i).link().name(),
                             monitor->violation());
        }
      }
    }
    return {};
  }
  [[nodiscard]] std::vector<RtlPlace> rtl() override {
    std::vector<RtlPlace> models;
    for (const auto& router : routers()) {
      const std::vector<RtlPlace> more = router->rtl();
      models.insert(models.end(), more.begin(), more.end());
    }
    return models;
  }
  [[nodiscard]] bool under_way(Cycle now) const override {
    return std::any_of(routers().begin(), routers().end(),
                       [&](const auto& router) { return router->under_way(now); });
  }

 private:
  std::vector<bool> is_external_;  // by vertex
};

}  // namespace

std::unique_ptr<Network> make_flit_network(const NetworkPlan& plan, ClockDomain& clock,
                                           const MessageTable& messages, const PathTable& paths) {
  return std::make_unique<FlitNetwork>(plan, clock, messages, paths);
}

}  // namespace espalier
