#include "sims/system/network.h"

#include <fmt/format.h>

#include "ni/flit_injection_port.h"
#include "ni/train/train_injection_port.h"
#include "router/router.h"
#include "router/rtl/rtl_output_hold.h"
#include "router/train/train_router.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

// Input ports of a vertex's router: its incoming links, then injection. `next_number` counts the
// links to NIs in the order of the calls.
std::vector<InputPortSpec> input_ports(const NetworkPlan& plan, NodeId vertex,
                                       std::uint64_t& next_number) {
  ChannelSpec channel;
  channel.vcs = plan.config.router.vcs;
  channel.vc_depth_flits = plan.config.router.vc_depth_flits;
  channel.receiver_pipeline = plan.config.router.pipeline_cycles;
  channel.ticks_per_cycle = plan.timing.ticks_per_cycle;

  channel.control_vcs = plan.control_vcs;
  channel.control_vc_depth_flits = plan.control != nullptr && plan.control->vc_depth_flits != 0
                                       ? plan.control->vc_depth_flits
                                       : plan.config.router.vc_depth_flits;

  const auto set_depth = [&](std::size_t dimension) {
    channel.vc_depth_flits = plan.vc_depths[dimension];
  };
  std::vector<InputPortSpec> inputs;
  for (const LinkId l : plan.topology.in_links(vertex)) {
    if (!plan.vc_depths.empty()) set_depth(plan.topology.dimension_of(l));
    const LinkTiming& timing = plan.timing.links[l.index()];
    channel.credit_latency =
        plan.config.credit_latency_cycles != 0 ? plan.config.credit_latency_cycles : timing.latency;
    inputs.push_back({"in_" + plan.topology.link(l).in_name, l.index(), timing, channel});
  }
  for (std::uint32_t p = 0; p < plan.ni_ports[vertex.index()]; ++p) {
    // In a multi-dimensional system each injection port belongs to a link.
    if (!plan.vc_depths.empty()) {
      set_depth(plan.topology.dimension_of(plan.topology.out_links(vertex)[p]));
    }
    channel.credit_latency = plan.config.ni.injection_cycles;
    inputs.push_back({fmt::format("in_ni{}", p),
                      next_number++,
                      {plan.config.ni.injection_cycles, plan.timing.ticks_per_cycle},
                      channel});
  }
  return inputs;
}

// The part that the networks of both fidelities share: one router per vertex, and the links between
// the routers. RouterType is FlitRouter or TrainRouter.
template <class RouterType>
class NetworkOf : public Network {
 public:
  void add_ejection(NodeId node, std::uint32_t port, PacketSink& ni, Cycle latency) override {
    routers_[node.index()]->add_ejection(ni, port, latency);
  }
  void connect() override {
    for (const auto& router : routers_) router->connect();
  }
  [[nodiscard]] Counters counters() const override {
    Counters sum;
    for (const auto& router : routers_) sum += router->counters();
    return sum;
  }
  void explain_waits(Cycle now, WaitList& waits) const override {
    for (const auto& router : routers_) router->explain_waits(now, waits);
  }

  [[nodiscard]] std::vector<ChannelPlace> channels() override {
    std::vector<ChannelPlace> places;
    for (const auto& router : routers_) {
      for (std::size_t i = 0; i < router->num_inputs(); ++i) {
        auto& channel = router->input_channel(i);
        places.push_back({channel.link().name(), channel.spec(), channel.link().timing(),
                          [&channel](ChannelObserver& observer) { channel.observe(observer); }});
      }
    }
    return places;
  }

 protected:
  using Routers = std::vector<std::unique_ptr<RouterType>>;

  // Calls `make_router(name, vertex, inputs)` for every vertex in turn.
  template <class MakeRouter>
  NetworkOf(const NetworkPlan& plan, MakeRouter&& make_router) : topology_(plan.topology) {
    std::uint64_t next_number = topology_.num_links();
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      const NodeId vertex(v);
      routers_.push_back(make_router(topology_.vertex_name(vertex).c_str(), vertex,
                                     input_ports(plan, vertex, next_number)));
    }
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      for (const LinkId l : topology_.out_links(NodeId(v))) {
        const TopologyLink& link = topology_.link(l);
        routers_[v]->add_output(routers_[link.to.index()]->input_channel(link.in_port));
      }
    }
  }

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Routers& routers() const { return routers_; }
  [[nodiscard]] auto& injection_channel(NodeId node, std::uint32_t port) {
    return routers_[node.index()]->input_channel(topology_.in_links(node).size() + port);
  }

 private:
  const Topology& topology_;
  Routers routers_;
};

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

// Events in flight and waiting trains. A base class of the network, so that it is constructed
// before the routers, which refer to it.
struct TrainState {
  TrainWheel wheel;
  TrainSegmentPool segments;
  PacketStops stops;
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
                    return std::make_unique<TrainRouter>(name, clock, wheel, segments, stops, spec,
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
    return std::make_unique<TrainInjectionPort>(channel, stops, spec);
  }

  void copy_arbiters(const LinkPairs& links, const NodePairs& nodes) override {
    struct Copy {
      TrainRouter::Ports inputs;
      TrainRouter::Ports outputs;
    };
    std::map<std::pair<NodeId, NodeId>, Copy> copies;  // by router, and router that is alike
    for (const auto& [from, to] : links) {
      const TopologyLink& one = topology().link(from);
      const TopologyLink& other = topology().link(to);
      copies[{one.to, other.to}].inputs[one.in_port] = other.in_port;
      copies[{one.from, other.from}].outputs[one.out_port] = other.out_port;
    }
    const auto add_own = [](TrainRouter::Ports& ports, std::size_t from, std::size_t last,
                            std::size_t to) {
      for (; from < last; ++from, ++to) {
        ports[static_cast<std::uint32_t>(from)] = static_cast<std::uint32_t>(to);
      }
    };
    for (const auto& [from, to] : nodes) {
      Copy& copy = copies[{from, to}];
      const TrainRouter& router = *routers()[from.index()];
      add_own(copy.inputs, topology().in_links(from).size(), router.num_inputs(),
              topology().in_links(to).size());
      add_own(copy.outputs, topology().out_links(from).size(), router.num_outputs(),
              topology().out_links(to).size());
    }
    for (const auto& [pair, copy] : copies) {
      routers()[pair.second.index()]->copy_arbiters(*routers()[pair.first.index()], copy.inputs,
                                                    copy.outputs, clock_.now());
    }
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
  [[nodiscard]] PacketStops packet_stops() const override { return stops; }
  // Monitors watch single flits, so this fidelity refuses them.
  std::string monitor_violation(bool) override { return {}; }
  // Every future event is on the wheel or in the clock's queue.
  [[nodiscard]] bool under_way(Cycle) const override { return !clock_.idle(); }

 private:
  ClockDomain& clock_;
};

}  // namespace

std::unique_ptr<Network> make_flit_network(const NetworkPlan& plan, ClockDomain& clock,
                                           const MessageTable& messages, const PathTable& paths) {
  return std::make_unique<FlitNetwork>(plan, clock, messages, paths);
}

std::unique_ptr<Network> make_train_network(const NetworkPlan& plan, ClockDomain& clock,
                                            const MessageTable& messages, const PathTable& paths) {
  return std::make_unique<TrainNetwork>(plan, clock, messages, paths);
}

}  // namespace espalier
