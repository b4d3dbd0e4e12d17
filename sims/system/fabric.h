// A whole system as SystemC modules: routers with their links, and network interfaces.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/network_interface.h"
#include "sims/point/simulation_config.h"
#include "sims/point/traffic_config.h"
#include "sims/system/control_traffic.h"
#include "sims/system/hardware_events.h"
#include "sims/system/network.h"
#include "sims/system/vc_partition.h"

namespace espalier {

struct SystemConfig;

// `net` contains the network's routers and one NI per node (`ni_1_2` beside `r_1_2`). A switch that
// reduces and multicasts for a group of a multi-dimensional system has a unit that sends and
// receives as an NI does, so the unit is a NetworkInterface (`agg_sw_1_0` beside `sw_1_0`) with a
// port for each of the switch's links. Other tenants of a data centre are behind its ToRs:
// `ten_tor_0` beside `tor_0`, with a port for each uplink.
class Fabric : public sc_core::sc_module {
 public:
  Fabric(sc_core::sc_module_name module_name, ClockDomain& clock, const SystemConfig& config,
         const SimulationConfig& simulation, const Topology& topology, const SystemTiming& timing,
         const RouteSet& routes, const std::vector<RouteId>& used_routes, std::uint32_t ni_ports,
         DeliveryObserver& observer, const ControlConfig* control = nullptr,
         bool has_tenants = false);

  // The unit of a network's only switch that adds is the NI of the node behind the last one. Throws
  // std::invalid_argument if the node's NI is external.
  [[nodiscard]] NetworkInterface& ni(NodeId node) {
    if (nis_[node.index()] == nullptr) refuse_external(node);
    return *nis_[node.index()];
  }
  // The port of an external NI; nullptr if the node's NI is built in.
  [[nodiscard]] NiSocket* ni_socket(NodeId node) const;
  // NIs of nodes, without the units of switches.
  [[nodiscard]] std::size_t num_nis() const { return topology_.num_nodes(); }
  // Precondition: the switch adds.
  [[nodiscard]] NetworkInterface& aggregation_unit(NodeId vertex) {
    return *nis_[switch_units_.at(vertex)];
  }
  // Precondition: there are tenants, and `vertex` is a ToR.
  [[nodiscard]] NetworkInterface& tenant_unit(NodeId vertex) {
    return *nis_[switch_units_.at(vertex)];
  }

  // The NI or unit at a vertex of the topology; nullptr if the vertex has none, or an external one.
  [[nodiscard]] NetworkInterface* ni_at(NodeId vertex);

  // nullptr if every router and every NI is built in.
  [[nodiscard]] Sockets* sockets() { return sockets_.get(); }

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const SystemTiming& timing() const { return timing_; }
  [[nodiscard]] std::vector<ChannelPlace> channels() { return network_->channels(); }
  // The Verilog models that decide in routers; NetworkInterface::rtl() has the models of an NI.
  [[nodiscard]] std::vector<RtlPlace> router_rtl() { return network_->rtl(); }
  // The signals of external routers and NIs.
  [[nodiscard]] std::vector<RtlPlace> socket_signals() const;
  [[nodiscard]] const MessageStore& messages() const { return messages_; }
  [[nodiscard]] const PathTable& paths() const { return paths_; }

  // Binds a route of control messages; may be called at any time. Precondition: there are control
  // messages.
  [[nodiscard]] RouteId bind_control(const RouteSet& routes, RouteId route);

  // Binds a route of other background messages, on the gradients' VCs; may be called at any time.
  // Returns the route id for their operations.
  [[nodiscard]] RouteId bind_side(const RouteSet& routes, RouteId route);

  // See Network.
  void copy_arbiters(const Network::LinkPairs& links, const Network::NodePairs& nodes) {
    network_->copy_arbiters(links, nodes);
  }

  [[nodiscard]] std::uint64_t flit_hops() const { return network_->flit_hops(); }
  [[nodiscard]] PacketStops packet_stops() const { return network_->packet_stops(); }
  // Sum over routers and NIs.
  [[nodiscard]] Counters counters() const;
  // Gradients only.
  [[nodiscard]] std::uint64_t gradient_flit_hops() const {
    return network_->flit_hops() - network_->control_flit_hops();
  }
  [[nodiscard]] std::vector<std::uint64_t> link_flits() const { return network_->link_flits(); }
  // The job only, without other tenants.
  [[nodiscard]] std::uint64_t head_flits() const;
  [[nodiscard]] std::uint64_t injected_flits() const;
  [[nodiscard]] std::uint64_t received_flits() const;
  // Events of routers, links and NIs up to the current cycle.
  [[nodiscard]] HardwareEvents events() const;
  [[nodiscard]] std::string monitor_violation(bool drained) {
    return network_->monitor_violation(drained);
  }
  // True if something will move without another event, however long it takes.
  [[nodiscard]] bool under_way(Cycle now) const;
  // As under_way(), but only for gradients at the job's NIs, so that control messages and tenants
  // cannot hide a standstill.
  [[nodiscard]] bool nis_under_way(Cycle now) const;
  // What is stuck in the network, or, if the network is not stuck, in the issue engines.
  [[nodiscard]] WaitList waits(Cycle now) const;

 private:
  [[nodiscard]] std::unique_ptr<Network> build_network(const SystemConfig& config,
                                                       const SimulationConfig& simulation) const;
  // Parameters of NI port `port` at a vertex.
  [[nodiscard]] InjectionSpec injection_spec(const SystemConfig& config, NodeId vertex,
                                             std::uint32_t port) const;
  void build_nis(const SystemConfig& config, DeliveryObserver& observer);
  void build_switch_units(const NiSpec& spec, const SystemConfig& config,
                          DeliveryObserver& observer);
  template <class Visit>
  void for_each_socket(Visit&& visit) const {
    if (sockets_ == nullptr) return;
    for (const auto& [node, ni] : sockets_->nis) visit(*ni);
  }
  [[noreturn]] void refuse_external(NodeId node) const;
  void build_ni_socket(NodeId node, const SystemConfig& config, DeliveryObserver& observer);
  void build_ni(const std::string& ni_name, NodeId vertex, const NiSpec& spec,
                const SystemConfig& config, DeliveryObserver& observer);
  void bind_routes(const RouteSet& routes, const std::vector<RouteId>& used_routes);
  // NiRules::authors: a path to each ejection port of the receiver.
  [[nodiscard]] BoundRoute bind_to_any_port(const RouteSet& routes, RouteId route);
  // Link port i shares NI port i mod ports.
  [[nodiscard]] BoundRoute bind_over(const RouteSet& routes, RouteId route, VcMask vcs,
                                     VcMask injection_vcs);
  // The `usable` VCs that a message to `destination` may use. VcOrder::destination: one,
  // so that with enough VCs messages to different nodes never wait behind each other.
  [[nodiscard]] VcMask vcs_for(NodeId destination, VcMask usable) const;
  // The hops over the route's links, on the VCs of `vcs` that the hops' VC classes permit.
  [[nodiscard]] std::vector<PathHop> path_over(const RouteSet& routes, RouteId route,
                                               VcMask vcs) const;
  [[nodiscard]] std::uint32_t ports_of(NodeId vertex) const;
  // Whether the switch adds and copies: by its group's algorithm, or because messages end there.
  [[nodiscard]] bool adds_at(NodeId vertex) const {
    return topology_.aggregates(vertex) || message_ends_.count(vertex) != 0;
  }
  [[nodiscard]] bool has_tenants_at(NodeId vertex) const {
    return has_tenants_ && topology_.is_rack_switch(vertex);
  }

  [[nodiscard]] std::uint32_t dimension_of(LinkId link) const;

  const Topology& topology_;
  const SystemTiming& timing_;
  std::uint32_t ni_ports_;
  bool takes_any_port_;  // NiRules::authors
  VcOrder vc_order_;
  bool is_granted_by_flit_;  // a packet asks for the switch with each flit
  const ControlConfig* control_;
  bool has_tenants_;
  std::set<NodeId> message_ends_;  // switches
  VcPartition vcs_;
  VcMask injection_vcs_;  // of the channels from NIs, for gradients
  ClockDomain& clock_;
  MessageTable message_table_;
  MessageStore messages_{message_table_};
  PathTable paths_;
  std::vector<BoundRoute> bound_routes_;
  std::unique_ptr<Sockets> sockets_;
  std::unique_ptr<Network> network_;
  // The nodes' NIs, then the switches' NIs; nullptr: external.
  std::vector<std::unique_ptr<NetworkInterface>> nis_;
  std::map<NodeId, std::size_t> switch_units_;  // index into nis_
};

}  // namespace espalier
