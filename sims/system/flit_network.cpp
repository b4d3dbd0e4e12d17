#include <fmt/format.h>

#include <algorithm>

#include "ni/flit_injection_port.h"
#include "router/router.h"
#include "sims/system/network.h"

namespace espalier {

namespace {

class FlitNetwork : public Network {
 public:
  FlitNetwork(const NetworkPlan& plan, ClockDomain& clock, const MessageTable& messages,
              const PathTable& paths)
      : topology_(plan.topology) {
    const RouterSpec spec{plan.config.router.vcs, plan.config.router.switching,
                          plan.config.router.hold, plan.config.router.crossbar_inputs,
                          plan.timing.ticks_per_cycle};
    const StallPattern stalls{plan.simulation.stall_probability, plan.simulation.seed};
    std::uint64_t next_number = topology_.num_links();
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      const NodeId vertex(v);
      const auto inputs = input_ports(plan, vertex, next_number);
      routers_.push_back(std::make_unique<Router>(topology_.vertex_name(vertex).c_str(), clock,
                                                  spec, messages, paths, inputs, stalls));
      for (std::size_t i = 0; plan.simulation.monitors && i < inputs.size(); ++i) {
        routers_.back()->input_channel(i).attach_monitor();
      }
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
                                                CreditListener&) override {
    Router& router = *routers_[node.index()];
    return std::make_unique<FlitInjectionPort>(
        router.input_channel(topology_.in_links(node).size() + port), spec);
  }
  void add_ejection(NodeId node, std::uint32_t port, PacketSink& ni, Cycle latency) override {
    routers_[node.index()]->add_ejection(ni, port, latency);
  }
  void connect() override {
    for (const auto& router : routers_) router->connect();
  }

  [[nodiscard]] std::uint64_t flit_hops() const override {
    std::uint64_t hops = 0;
    for (const auto& router : routers_) hops += router->flit_hops();
    return hops;
  }
  [[nodiscard]] std::vector<std::uint64_t> link_flits() const override {
    std::vector<std::uint64_t> flits;
    flits.reserve(topology_.num_links());
    for (const TopologyLink& link : topology_.links()) {
      flits.push_back(routers_[link.to.index()]->input_channel(link.in_port).flits_carried());
    }
    return flits;
  }
  std::string monitor_violation(bool drained) override {
    for (const auto& router : routers_) {
      for (std::size_t i = 0; i < router->num_inputs(); ++i) {
        ChannelMonitor* monitor = router->input_channel(i).monitor();
        if (monitor == nullptr) continue;
        if (drained) monitor->check_drained();
        if (!monitor->violation().empty()) {
          return fmt::format("{}: {}", router->input_channel(i).link().name(),
                             monitor->violation());
        }
      }
    }
    return {};
  }
  [[nodiscard]] bool under_way(Cycle now) const override {
    return std::any_of(routers_.begin(), routers_.end(),
                       [&](const auto& router) { return router->under_way(now); });
  }
  void explain_waits(Cycle now, WaitList& waits) const override {
    for (const auto& router : routers_) router->explain_waits(now, waits);
  }

 private:
  const Topology& topology_;
  std::vector<std::unique_ptr<Router>> routers_;
};

}  // namespace

std::unique_ptr<Network> make_flit_network(const NetworkPlan& plan, ClockDomain& clock,
                                           const MessageTable& messages, const PathTable& paths) {
  return std::make_unique<FlitNetwork>(plan, clock, messages, paths);
}

}  // namespace espalier
