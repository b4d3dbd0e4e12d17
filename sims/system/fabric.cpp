#include "sims/system/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <iterator>
#include <stdexcept>

#include "alg/routes/routing.h"
#include "flowctl/vc_buffer.h"
#include "hw/topology/vertex_names.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/idle_times.h"
#include "sims/point/fidelity.h"

namespace espalier {

Fabric::Fabric(sc_core::sc_module_name module_name, ClockDomain& clock, const SystemConfig& config,
               const SimulationConfig& simulation, const Topology& topology,
               const SystemTiming& timing, const RouteSet& routes,
               const std::vector<RouteId>& used_routes, std::uint32_t ni_ports,
               DeliveryObserver& observer, const ControlConfig* control, bool has_tenants)
    : sc_module(module_name),
      topology_(topology),
      timing_(timing),
      ni_ports_(ni_ports),
      takes_any_port_(takes_any_port(config.ni.rules)),
      vc_order_(config.router.vc_order),
      is_granted_by_flit_(config.router.hold == SwitchHold::flit),
      control_(control),
      has_tenants_(has_tenants),
      vcs_(partition_vcs(topology, config.router.vcs, control)),
      injection_vcs_(config.ni.injection_vcs == InjectionVcs::one
                         ? vcs_.of_gradients() & (~vcs_.of_gradients() + 1)
                         : vcs_.of_gradients()),
      clock_(clock) {
  if (control != nullptr && vcs_.vcs < vcs_.classes * (vcs_.sets_control_aside ? 2 : 1)) {
    throw std::invalid_argument("the routers have too few VCs for control messages");
  }
  if (config.topology.external.any()) {
    sockets_ = std::make_unique<Sockets>(clock, topology, config.topology.external);
  }
  for (const RouteId route : used_routes) {
    const NodeId to = topology_.link(routes.link(route, routes.hops(route) - 1)).to;
    if (topology_.is_switch(to)) message_ends_.insert(to);
  }
  network_ = build_network(config, simulation);
  build_nis(config, observer);
  network_->connect();
  bind_routes(routes, used_routes);
}

// The number of NI ports at a vertex. A node has as many as the algorithm can use, but not more
// than its router has links, unless ports are not bound to links. A switch has none, or one for
// each link if it reduces and multicasts. A rack's unit for tenants has one for each uplink,
// because the tenants' hosts can fill all uplinks.
std::uint32_t Fabric::ports_of(NodeId vertex) const {
  const std::size_t links =
      std::max(topology_.out_links(vertex).size(), topology_.in_links(vertex).size());
  if (has_tenants_at(vertex)) return topology_.shape().racks.uplinks;
  if (topology_.is_switch(vertex)) {
    return adds_at(vertex) ? static_cast<std::uint32_t>(links) : 0;
  }
  return takes_any_port_ ? ni_ports_ : std::min(ni_ports_, static_cast<std::uint32_t>(links));
}

std::unique_ptr<Network> Fabric::build_network(const SystemConfig& config,
                                               const SimulationConfig& simulation) const {
  NetworkPlan plan{topology_, timing_,  config,           simulation,     {},
                   {},        control_, vcs_.set_aside(), sockets_.get(), &messages_};
  if (topology_.dimensions()) plan.vc_depths = dimension_vc_depths(config);
  for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
    plan.ni_ports.push_back(ports_of(NodeId(v)));
  }
  RunPoint point;
  point.system = config;
  point.simulation = simulation;
  if (control_ != nullptr) point.control = *control_;
  const Fidelity fidelity = chosen_fidelity(point);
  if (fidelity == Fidelity::train && !train_obstacle(point).empty()) {
    throw std::invalid_argument("simulation.fidelity: train is not exact with " +
                                train_obstacle(point));
  }
  return fidelity == Fidelity::train ? make_train_network(plan, clock_, message_table_, paths_)
                                     : make_flit_network(plan, clock_, message_table_, paths_);
}

InjectionSpec Fabric::injection_spec(const SystemConfig& config, NodeId vertex,
                                     std::uint32_t port) const {
  const auto& shape = topology_.dimensions();
  const FramingSpec framing =
      shape ? framing_spec(
                  config,
                  shape->dimensions[topology_.dimension_of(topology_.out_links(vertex)[port])])
            : framing_spec(config);
  return {framing,
          config.router.switching,
          injection_buffer_flits(config),
          takes_any_port_ ? 1 : config.ni.send_queue,
          injection_vcs_,
          control_ != nullptr ? vcs_.of_control() : 0,
          config.router.vc_order};
}

void Fabric::build_nis(const SystemConfig& config, DeliveryObserver& observer) {
  const NiSpec spec{{config.ni.dma_latency_cycles, config.ni.dma_bytes_per_cycle},
                    {config.ni.reduction.mode, config.ni.reduction.latency_cycles,
                     config.ni.reduction.bytes_per_cycle, config.ni.reduction.block_bytes},
                    config.ni.delivery_cycles,
                    config.ni.program.memory_bytes_per_cycle,
                    config.ni.rules != NiRules::linked};
  for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
    if (sockets_ != nullptr && sockets_->has_ni(NodeId(n))) {
      build_ni_socket(NodeId(n), config, observer);
      continue;
    }
    build_ni(ni_name(topology_.vertex_name(NodeId(n))), NodeId(n), spec, config, observer);
  }
  build_switch_units(spec, config, observer);
}

void Fabric::build_switch_units(const NiSpec& spec, const SystemConfig& config,
                                DeliveryObserver& observer) {
  // A switch serves many NPUs at once: each port has a reduction lane and a memory of its own. The
  // same holds for the hosts of a rack.
  NiSpec in_switch = spec;
  in_switch.dma.bytes_per_cycle = 0;
  in_switch.reduction.mode = ReductionMode::streaming;
  in_switch.memory_bytes_per_cycle = 0;
  for (std::size_t v = topology_.num_nodes(); v < topology_.num_vertices(); ++v) {
    const NodeId vertex(v);
    if (!adds_at(vertex) && !has_tenants_at(vertex)) continue;
    const char* const unit = has_tenants_at(vertex) ? "ten_" : "agg_";
    switch_units_[vertex] = nis_.size();
    NiSpec unit_spec = in_switch;
    if (topology_.aggregates(vertex) && config.dimensions.switch_bytes_per_cycle != 0) {
      unit_spec.reduction.bytes_per_cycle = config.dimensions.switch_bytes_per_cycle;
    } else if (!topology_.aggregates(vertex)) {
      unit_spec.reduction.bytes_per_cycle = 0;  // a lane for each link, as fast as it
    }
    build_ni(unit + topology_.vertex_name(vertex), vertex, unit_spec, config, observer);
  }
}

void Fabric::build_ni_socket(NodeId node, const SystemConfig& config, DeliveryObserver& observer) {
  nis_.push_back(nullptr);
  auto socket = std::make_unique<NiSocket>(ni_name(topology_.vertex_name(node)).c_str(), node,
                                           messages_, bound_routes_, observer,
                                           sockets_->clock.watch(), config.ni.ejection_cycles);
  for (std::uint32_t p = 0; p < ports_of(node); ++p) {
    socket->add_port(network_->injected_channel(node, p), injection_spec(config, node, p));
    network_->add_ejection(node, p, *socket, config.ni.ejection_cycles);
  }
  sockets_->clock.add(*socket);
  sockets_->nis[node] = std::move(socket);
}

NiSocket* Fabric::ni_socket(NodeId node) const {
  if (sockets_ == nullptr) return nullptr;
  const auto found = sockets_->nis.find(node);
  return found == sockets_->nis.end() ? nullptr : found->second.get();
}

void Fabric::refuse_external(NodeId node) const {
  throw std::invalid_argument(
      fmt::format("system.topology.external.nis: the NI of {} is external, and only a collective "
                  "with schedule tables says what an external NI sends",
                  topology_.vertex_name(node)));
}

void Fabric::build_ni(const std::string& ni_name, NodeId vertex, const NiSpec& spec,
                      const SystemConfig& config, DeliveryObserver& observer) {
  nis_.push_back(std::make_unique<NetworkInterface>(ni_name.c_str(), vertex, clock_, spec,
                                                    messages_, bound_routes_, observer));
  for (std::uint32_t p = 0; p < ports_of(vertex); ++p) {
    nis_.back()->add_injection(
        network_->injection_port(vertex, p, injection_spec(config, vertex, p), *nis_.back()));
    network_->add_ejection(vertex, p, *nis_.back(), config.ni.ejection_cycles);
  }
  nis_.back()->connect();
}

namespace {

// Assigns a node's NI ports to the links by which its messages leave (or arrive): in port order,
// cyclically. With as many NI ports as links in use, transfers on different links share no NI port.
class PortSharing {
 public:
  // A multi-dimensional system has an NI port for every link, with the link's flit width.
  explicit PortSharing(const Topology& topology)
      : one_each_(topology.dimensions().has_value()), link_ports_(topology.num_vertices()) {}
  void use(NodeId node, std::uint32_t link_port) { link_ports_[node.index()].insert(link_port); }
  [[nodiscard]] std::uint32_t ni_port(NodeId node, std::uint32_t link_port,
                                      std::uint32_t ni_ports) const {
    if (one_each_) return link_port;
    const auto& ports = link_ports_[node.index()];
    const auto place = std::distance(ports.begin(), ports.find(link_port));
    return static_cast<std::uint32_t>(place) % ni_ports;
  }

 private:
  bool one_each_;
  std::vector<std::set<std::uint32_t>> link_ports_;  // by vertex
};

}  // namespace

VcMask Fabric::vcs_for(NodeId destination, VcMask usable) const {
  if (vc_order_ != VcOrder::destination) return usable;
  auto lower = destination.index() % std::bitset<32>(usable).count();
  for (; lower != 0; --lower) usable &= usable - 1;
  return usable & (~usable + 1);
}

std::vector<PathHop> Fabric::path_over(const RouteSet& routes, RouteId route, VcMask vcs) const {
  const std::size_t hops = routes.hops(route);
  const TopologyLink& first = topology_.link(routes.link(route, 0));
  const TopologyLink& last = topology_.link(routes.link(route, hops - 1));
  if (hops >= kMostHops) {
    throw std::invalid_argument(fmt::format(
        "the route from {} to {} passes {} links; a flit can pass at most {}",
        topology_.vertex_name(first.from), topology_.vertex_name(last.to), hops, kMostHops));
  }
  const std::vector<std::uint32_t> classes = vc_classes_of(topology_, routes, route);
  std::vector<PathHop> path;
  for (std::size_t h = 0; h < hops; ++h) {
    const auto out_port =
        static_cast<std::uint16_t>(topology_.link(routes.link(route, h)).out_port);
    const VcMask in_class = vcs_.of_class(classes[h]) & vcs;
    path.push_back({out_port, vcs_for(last.to, in_class)});
  }
  return path;
}

BoundRoute Fabric::bind_over(const RouteSet& routes, RouteId route, VcMask vcs,
                             VcMask injection_vcs) {
  const TopologyLink& first = topology_.link(routes.link(route, 0));
  const TopologyLink& last = topology_.link(routes.link(route, routes.hops(route) - 1));
  std::vector<PathHop> path = path_over(routes, route, vcs);
  const auto eject_port = topology_.out_links(last.to).size() + last.in_port % ports_of(last.to);
  path.push_back({static_cast<std::uint16_t>(eject_port), vcs});
  return {paths_.add(path), vcs_for(last.to, injection_vcs), first.out_port % ports_of(first.from)};
}

RouteId Fabric::bind_control(const RouteSet& routes, RouteId route) {
  bound_routes_.push_back(bind_over(routes, route, vcs_.of_control(), vcs_.of_control()));
  return RouteId(bound_routes_.size() - 1);
}

RouteId Fabric::bind_side(const RouteSet& routes, RouteId route) {
  bound_routes_.push_back(bind_over(routes, route, vcs_.of_gradients(), injection_vcs_));
  bound_routes_.back().share = share_of_route(topology_, routes, route);
  return RouteId(bound_routes_.size() - 1);
}

BoundRoute Fabric::bind_to_any_port(const RouteSet& routes, RouteId route) {
  const NodeId to = topology_.link(routes.link(route, routes.hops(route) - 1)).to;
  const std::vector<PathHop> over_links = path_over(routes, route, vcs_.of_gradients());
  std::vector<PathHop> paths;
  for (std::uint32_t port = 0; port < ports_of(to); ++port) {
    paths.insert(paths.end(), over_links.begin(), over_links.end());
    const auto ejection = static_cast<std::uint16_t>(topology_.out_links(to).size() + port);
    paths.push_back({ejection, vcs_.of_gradients()});
  }
  return {paths_.add(paths), vcs_for(to, injection_vcs_), 0, ports_of(to),
          static_cast<std::uint32_t>(over_links.size() + 1)};
}

void Fabric::bind_routes(const RouteSet& routes, const std::vector<RouteId>& used_routes) {
  if (takes_any_port_) {
    bound_routes_.resize(routes.size());
    for (const RouteId route : used_routes) {
      bound_routes_[route.index()] = bind_to_any_port(routes, route);
      bound_routes_[route.index()].share = share_of_route(topology_, routes, route);
    }
    return;
  }
  const auto first_link = [&](RouteId r) -> const TopologyLink& {
    return topology_.link(routes.link(r, 0));
  };
  const auto last_link = [&](RouteId r) -> const TopologyLink& {
    return topology_.link(routes.link(r, routes.hops(r) - 1));
  };
  PortSharing injection(topology_);
  PortSharing ejection(topology_);
  for (const RouteId route : used_routes) {
    injection.use(first_link(route).from, first_link(route).out_port);
    ejection.use(last_link(route).to, last_link(route).in_port);
  }
  bound_routes_.resize(routes.size());
  for (const RouteId route : used_routes) {
    std::vector<PathHop> path = path_over(routes, route, vcs_.of_gradients());
    const TopologyLink& first = first_link(route);
    const TopologyLink& last = last_link(route);
    const auto eject_port = topology_.out_links(last.to).size() +
                            ejection.ni_port(last.to, last.in_port, ports_of(last.to));
    path.push_back({static_cast<std::uint16_t>(eject_port), vcs_.of_gradients()});
    bound_routes_[route.index()] = {
        paths_.add(path), vcs_for(last.to, injection_vcs_),
        injection.ni_port(first.from, first.out_port, ports_of(first.from))};
    bound_routes_[route.index()].share = share_of_route(topology_, routes, route);
  }
}

NetworkInterface* Fabric::ni_at(NodeId vertex) {
  if (!topology_.is_switch(vertex)) return nis_[vertex.index()].get();
  const auto unit = switch_units_.find(vertex);
  return unit == switch_units_.end() ? nullptr : nis_[unit->second].get();
}

std::vector<RtlPlace> Fabric::socket_signals() const {
  std::vector<RtlPlace> places;
  for_each_socket([&](NiSocket& ni) { places.push_back({ni.name(), &ni, "."}); });
  if (sockets_ == nullptr) return places;
  for (const auto& [vertex, router] : sockets_->routers) {
    places.push_back({router->name(), router, "."});
  }
  return places;
}

std::uint64_t Fabric::head_flits() const {
  std::uint64_t flits = 0;
  for (const auto& ni : nis_) {
    if (ni == nullptr || has_tenants_at(ni->node())) continue;
    for (const auto& port : ni->injection_ports()) flits += port->head_flits_sent();
  }
  for_each_socket([&](const NiSocket& ni) { flits += ni.head_flits_sent(); });
  return flits;
}

std::uint64_t Fabric::injected_flits() const {
  std::uint64_t flits = 0;
  for (const auto& ni : nis_) {
    if (ni == nullptr || has_tenants_at(ni->node())) continue;
    for (const auto& port : ni->injection_ports()) flits += port->flits_sent(clock_.now());
  }
  for_each_socket([&](const NiSocket& ni) {
    for (std::size_t p = 0; p < ni.num_ports(); ++p) flits += ni.flits_sent(p);
  });
  return flits;
}

std::uint64_t Fabric::received_flits() const {
  std::uint64_t flits = 0;
  for (const auto& ni : nis_) {
    if (ni != nullptr && !has_tenants_at(ni->node())) flits += ni->received_flits();
  }
  for_each_socket([&](const NiSocket& ni) { flits += ni.received_flits(); });
  return flits;
}

bool Fabric::nis_under_way(Cycle now) const {
  bool is_under_way = std::any_of(nis_.begin(), nis_.end(), [&](const auto& ni) {
    return ni != nullptr && !has_tenants_at(ni->node()) && ni->under_way(now);
  });
  for_each_socket([&](const NiSocket& ni) { is_under_way = is_under_way || ni.under_way(now); });
  return is_under_way;
}

bool Fabric::under_way(Cycle now) const { return nis_under_way(now) || network_->under_way(now); }

WaitList Fabric::waits(Cycle now) const {
  WaitList waits;
  for (const auto& ni : nis_) {
    if (ni != nullptr) ni->explain_ports(waits);
  }
  network_->explain_waits(now, waits);
  // If the network is stuck, table entries that wait for messages are only a consequence.
  if (!waits.empty()) return waits;
  std::vector<std::string> names;
  for (std::size_t n = 0; n < nis_.size(); ++n) {
    names.emplace_back(nis_[n] != nullptr ? nis_[n]->name() : ni_socket(NodeId(n))->name());
  }
  for_each_socket([&](const NiSocket& ni) { ni.explain_waits(waits); });
  for (const auto& ni : nis_) {
    if (ni != nullptr) ni->explain_engine(names, waits);
  }
  return waits;
}

}  // namespace espalier
