#include "ni/train_injection_port.h"
#include "router/train_router.h"
#include "sims/system/network.h"

namespace espalier {

namespace {

class TrainNetwork : public Network {
 public:
  TrainNetwork(const NetworkPlan& plan, ClockDomain& clock, const MessageTable& messages,
               const PathTable& paths)
      : topology_(plan.topology), clock_(clock) {
    clock.connect_arrivals(wheel_);
    const TrainRouterSpec spec{plan.config.router.vcs, plan.config.router.crossbar_inputs,
                               plan.timing.ticks_per_cycle};
    std::uint64_t next_number = topology_.num_links();
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      const NodeId vertex(v);
      routers_.push_back(std::make_unique<TrainRouter>(topology_.vertex_name(vertex).c_str(), clock,
                                                       wheel_, segments_, spec, messages, paths,
                                                       input_ports(plan, vertex, next_number)));
    }
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      for (const LinkId l : topology_.out_links(NodeId(v))) {
        const TopologyLink& link = topology_.link(l);
        routers_[v]->add_output(routers_[link.to.index()]->input_channel(link.in_port));
      }
    }
  }

  std::unique_ptr<InjectionPort> injection_port(NodeId node, std::uint32_t port,
                                                const InjectionSpec& spec,
                                                CreditListener& ni) override {
    TrainChannel& channel =
        routers_[node.index()]->input_channel(topology_.in_links(node).size() + port);
    channel.connect_sender(ni, port);
    return std::make_unique<TrainInjectionPort>(channel, spec);
  }
  void add_ejection(NodeId node, std::uint32_t port, PacketSink& ni, Cycle latency) override {
    routers_[node.index()]->add_ejection(ni, port, latency);
  }
  void connect() override {
    for (const auto& router : routers_) router->connect();
  }

  [[nodiscard]] std::uint64_t flit_hops() const override {
    std::uint64_t hops = 0;
    for (const auto& router : routers_) hops += router->flit_hops(clock_.now());
    return hops;
  }
  [[nodiscard]] std::vector<std::uint64_t> link_flits() const override {
    std::vector<std::uint64_t> flits;
    flits.reserve(topology_.num_links());
    for (const TopologyLink& link : topology_.links()) {
      flits.push_back(routers_[link.from.index()]->flits_sent(link.out_port, clock_.now()));
    }
    return flits;
  }
  // Monitors watch single flits: refused in this fidelity.
  std::string monitor_violation(bool) override { return {}; }
  // Whatever happens by the passing of time has its place on the wheel or in the clock's.
  [[nodiscard]] bool under_way(Cycle) const override { return !clock_.idle(); }
  void explain_waits(Cycle now, WaitList& waits) const override {
    for (const auto& router : routers_) router->explain_waits(now, waits);
  }

 private:
  const Topology& topology_;
  ClockDomain& clock_;
  TrainWheel wheel_;
  TrainSegmentPool segments_;
  std::vector<std::unique_ptr<TrainRouter>> routers_;
};

}  // namespace

std::unique_ptr<Network> make_train_network(const NetworkPlan& plan, ClockDomain& clock,
                                            const MessageTable& messages, const PathTable& paths) {
  return std::make_unique<TrainNetwork>(plan, clock, messages, paths);
}

}  // namespace espalier
