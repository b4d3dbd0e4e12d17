#include "ni/train/train_injection_port.h"
#include "router/train/train_router.h"
#include "sims/point/system_config.h"
#include "sims/system/network_of.h"

namespace espalier {

namespace {

// Events in flight and waiting trains. A base class of the network, so that it is constructed
// before the routers, which refer to it.
struct TrainState {
  TrainWheel wheel;
  TrainSegmentPool segments;
};

class TrainNetwork : private TrainState, public NetworkOf<TrainRouter> {
 public:
  TrainNetwork(const NetworkPlan& plan, ClockDomain& clock, const MessageTable& messages,
               const PathTable& paths)
      : NetworkOf(plan,
                  [&](const char* name, NodeId, const std::vector<InputPortSpec>& inputs) {
                    const TrainRouterSpec spec{
                        plan.config.router.vcs, plan.config.router.crossbar_inputs,
                        plan.config.router.vc_order, plan.timing.ticks_per_cycle};
                    return std::make_unique<TrainRouter>(name, clock, wheel, segments, spec,
                                                         messages, paths, inputs);
                  }),
        clock_(clock) {
    clock.connect_arrivals(wheel);
  }

  std::unique_ptr<InjectionPort> injection_port(NodeId node, std::uint32_t port,
                                                const InjectionSpec& spec,
                                                CreditListener& ni) override {
    TrainChannel& channel = injection_channel(node, port);
    channel.connect_sender(ni, port);
    return std::make_unique<TrainInjectionPort>(channel, spec);
  }

  [[nodiscard]] std::uint64_t flit_hops() const override {
    std::uint64_t hops = 0;
    for (const auto& router : routers()) hops += router->flit_hops(clock_.now());
    return hops;
  }
  [[nodiscard]] std::vector<std::uint64_t> link_flits() const override {
    std::vector<std::uint64_t> flits;
    flits.reserve(topology().num_links());
    for (const TopologyLink& link : topology().links()) {
      flits.push_back(routers()[link.from.index()]->flits_sent(link.out_port, clock_.now()));
    }
    return flits;
  }
  // Monitors watch single flits, so this fidelity refuses them.
  std::string monitor_violation(bool) override { return {}; }
  // Every future event is on the wheel or in the clock's queue.
  [[nodiscard]] bool under_way(Cycle) const override { return !clock_.idle(); }

 private:
  ClockDomain& clock_;
};

}  // namespace

std::unique_ptr<Network> make_train_network(const NetworkPlan& plan, ClockDomain& clock,
                                            const MessageTable& messages, const PathTable& paths) {
  return std::make_unique<TrainNetwork>(plan, clock, messages, paths);
}

}  // namespace espalier
