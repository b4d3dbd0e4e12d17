#include "sims/system/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "alg/routing.h"

namespace espalier {

namespace {

std::string ni_name(const std::string& vertex_name) {
  return "ni_" + (vertex_name.rfind("r_", 0) == 0 ? vertex_name.substr(2) : vertex_name);
}

VcMask all_vcs(std::uint32_t vcs) { return static_cast<VcMask>((std::uint64_t{1} << vcs) - 1); }

// VCs are shared out among the classes in equal, contiguous parts; with fewer VCs than classes all
// are one class.
VcMask vcs_of_class(std::uint32_t vc_class, std::uint32_t classes, std::uint32_t vcs) {
  if (vcs < classes) return all_vcs(vcs);
  const std::uint32_t first = vcs * vc_class / classes;
  const std::uint32_t end = vcs * (vc_class + 1) / classes;
  return all_vcs(end) & ~all_vcs(first);
}

}  // namespace

FramingSpec framing_spec(const SystemConfig& config) {
  return {config.flow_control.mode == FlowControlMode::message, config.clock.flit_bytes,
          config.flow_control.payload_bytes, config.flow_control.sub_message_bytes,
          config.flow_control.pad_last_packet};
}

Fabric::Fabric(sc_core::sc_module_name module_name, ClockDomain& clock, const SystemConfig& config,
               const SimulationConfig& simulation, const Topology& topology,
               const SystemTiming& timing, const RouteSet& routes,
               const std::vector<RouteId>& used_routes, std::uint32_t ni_ports,
               DeliveryObserver& observer)
    : sc_module(module_name),
      topology_(topology),
      timing_(timing),
      ni_ports_(ni_ports),
      clock_(clock) {
  build_routers(config, simulation);
  build_nis(config, observer);
  for (const auto& router : routers_) router->connect();
  bind_routes(routes, used_routes, config.router.vcs);
}

// As many as the algorithm can use, but not more than the node's router has links.
std::uint32_t Fabric::ports_of(NodeId node) const {
  const std::size_t links =
      std::max(topology_.out_links(node).size(), topology_.in_links(node).size());
  return std::min(ni_ports_, static_cast<std::uint32_t>(links));
}

void Fabric::build_routers(const SystemConfig& config, const SimulationConfig& simulation) {
  const RouterSpec spec{config.router.vcs, config.router.switching, config.router.hold,
                        config.router.crossbar_inputs, timing_.ticks_per_cycle};
  const StallPattern stalls{simulation.stall_probability, simulation.seed};
  ChannelSpec channel;
  channel.vcs = config.router.vcs;
  channel.vc_depth_flits = config.router.vc_depth_flits;
  channel.receiver_pipeline = config.router.pipeline_cycles;
  channel.ticks_per_cycle = timing_.ticks_per_cycle;

  std::uint64_t link_number = topology_.num_links();
  for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
    const NodeId vertex(v);
    std::vector<InputPortSpec> inputs;
    for (const LinkId l : topology_.in_links(vertex)) {
      const LinkTiming& timing = timing_.links[l.index()];
      channel.credit_latency =
          config.credit_latency_cycles != 0 ? config.credit_latency_cycles : timing.latency;
      inputs.push_back({"in_" + topology_.link(l).in_name, l.index(), timing, channel});
    }
    const std::uint32_t injections = topology_.is_switch(vertex) ? 0 : ports_of(vertex);
    for (std::uint32_t p = 0; p < injections; ++p) {
      channel.credit_latency = config.ni.injection_cycles;
      inputs.push_back({fmt::format("in_ni{}", p),
                        link_number++,
                        {config.ni.injection_cycles, timing_.ticks_per_cycle},
                        channel});
    }
    routers_.push_back(std::make_unique<Router>(topology_.vertex_name(vertex).c_str(), clock_, spec,
                                                message_table_, paths_, inputs, stalls));
    for (std::size_t i = 0; simulation.monitors && i < inputs.size(); ++i) {
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

void Fabric::build_nis(const SystemConfig& config, DeliveryObserver& observer) {
  const NiSpec spec{
      {framing_spec(config), config.router.switching, config.ni.buffer_flits, config.ni.send_queue},
      {config.ni.dma_latency_cycles, config.ni.dma_bytes_per_cycle},
      {config.ni.reduction.mode, config.ni.reduction.latency_cycles,
       config.ni.reduction.bytes_per_cycle, config.ni.reduction.block_bytes},
      config.ni.delivery_cycles};
  for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
    const NodeId node(n);
    Router& router = *routers_[n];
    nis_.push_back(std::make_unique<NetworkInterface>(ni_name(topology_.vertex_name(node)).c_str(),
                                                      node, clock_, spec, messages_, bound_routes_,
                                                      observer));
    for (std::uint32_t p = 0; p < ports_of(node); ++p) {
      nis_.back()->add_injection(router.input_channel(topology_.in_links(node).size() + p));
      router.add_ejection(*nis_.back(), p, config.ni.ejection_cycles);
    }
    nis_.back()->connect();
  }
}

namespace {

// Shares a node's NI ports out among the links that its messages leave by (or arrive on): in port
// order, round and round. With as many NI ports as links in use, transfers on different links share
// nothing.
class PortSharing {
 public:
  explicit PortSharing(std::size_t nodes) : link_ports_(nodes) {}
  void use(NodeId node, std::uint32_t link_port) { link_ports_[node.index()].insert(link_port); }
  [[nodiscard]] std::uint32_t ni_port(NodeId node, std::uint32_t link_port,
                                      std::uint32_t ni_ports) const {
    const auto& ports = link_ports_[node.index()];
    const auto place = std::distance(ports.begin(), ports.find(link_port));
    return static_cast<std::uint32_t>(place) % ni_ports;
  }

 private:
  std::vector<std::set<std::uint32_t>> link_ports_;  // by node
};

}  // namespace

void Fabric::bind_routes(const RouteSet& routes, const std::vector<RouteId>& used_routes,
                         std::uint32_t vcs) {
  const std::uint32_t classes = vc_classes(topology_);
  const auto first_link = [&](RouteId r) -> const TopologyLink& {
    return topology_.link(routes.link(r, 0));
  };
  const auto last_link = [&](RouteId r) -> const TopologyLink& {
    return topology_.link(routes.link(r, routes.hops(r) - 1));
  };
  PortSharing injection(topology_.num_nodes());
  PortSharing ejection(topology_.num_nodes());
  for (const RouteId route : used_routes) {
    injection.use(first_link(route).from, first_link(route).out_port);
    ejection.use(last_link(route).to, last_link(route).in_port);
  }
  bound_routes_.resize(routes.size());
  for (const RouteId route : used_routes) {
    const std::size_t hops = routes.hops(route);
    if (hops >= kMostHops) throw std::invalid_argument("a route has too many hops");
    std::vector<PathHop> path;
    for (std::size_t h = 0; h < hops; ++h) {
      const auto out_port =
          static_cast<std::uint16_t>(topology_.link(routes.link(route, h)).out_port);
      path.push_back(
          {out_port, vcs_of_class(vc_class_after(topology_, routes, route, h), classes, vcs)});
    }
    const TopologyLink& first = first_link(route);
    const TopologyLink& last = last_link(route);
    const auto eject_port = topology_.out_links(last.to).size() +
                            ejection.ni_port(last.to, last.in_port, ports_of(last.to));
    path.push_back({static_cast<std::uint16_t>(eject_port), all_vcs(vcs)});
    bound_routes_[route.index()] = {
        paths_.add(path), injection.ni_port(first.from, first.out_port, ports_of(first.from))};
  }
}

std::uint64_t Fabric::flit_hops() const {
  std::uint64_t hops = 0;
  for (const auto& router : routers_) hops += router->flit_hops();
  return hops;
}

std::vector<std::uint64_t> Fabric::link_flits() const {
  std::vector<std::uint64_t> flits;
  flits.reserve(topology_.num_links());
  for (const TopologyLink& link : topology_.links()) {
    flits.push_back(routers_[link.to.index()]->input_channel(link.in_port).flits_carried());
  }
  return flits;
}

std::uint64_t Fabric::head_flits() const {
  std::uint64_t flits = 0;
  for (const auto& ni : nis_) {
    for (const InjectionPort& port : ni->injection_ports()) flits += port.head_flits_sent();
  }
  return flits;
}

std::uint64_t Fabric::injected_flits() const {
  std::uint64_t flits = 0;
  for (const auto& ni : nis_) {
    for (const InjectionPort& port : ni->injection_ports()) flits += port.flits_sent();
  }
  return flits;
}

std::string Fabric::monitor_violation(bool drained) {
  for (const auto& router : routers_) {
    for (std::size_t i = 0; i < router->num_inputs(); ++i) {
      ChannelMonitor* monitor = router->input_channel(i).monitor();
      if (monitor == nullptr) continue;
      if (drained) monitor->check_drained();
      if (!monitor->violation().empty()) {
        return fmt::format("{}: {}", router->input_channel(i).link().name(), monitor->violation());
      }
    }
  }
  return {};
}

bool Fabric::under_way(Cycle now) const {
  return std::any_of(nis_.begin(), nis_.end(),
                     [&](const auto& ni) { return ni->under_way(now); }) ||
         std::any_of(routers_.begin(), routers_.end(),
                     [&](const auto& router) { return router->under_way(now); });
}

WaitList Fabric::waits(Cycle now) const {
  WaitList waits;
  for (const auto& ni : nis_) ni->explain_ports(waits);
  for (const auto& router : routers_) router->explain_waits(now, waits);
  // Entries that wait for messages stuck in the network are not the cause.
  if (!waits.empty()) return waits;
  std::vector<std::string> names;
  for (const auto& ni : nis_) names.emplace_back(ni->name());
  for (const auto& ni : nis_) ni->explain_entry(names, waits);
  return waits;
}

}  // namespace espalier
