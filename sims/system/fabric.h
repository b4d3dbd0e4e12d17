// A whole system as SystemC modules: clock, routers with their links, network interfaces.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/network_interface.h"
#include "sims/point/config.h"
#include "sims/system/control_traffic.h"
#include "sims/system/hardware_events.h"
#include "sims/system/network.h"
#include "sims/system/vc_partition.h"

namespace espalier {

// `net`: the network's routers, and one NI per node (`ni_1_2` beside `r_1_2`). A switch that adds
// and copies for a group of a multi-dimensional system has a unit for that, which sends and
// receives as an NI does: it is one (`agg_sw_1_0` beside `sw_1_0`), with a port for each of the
// switch's links. Other tenants of a data centre are behind its ToRs: `ten_tor_0` beside `tor_0`,
// with a port for each uplink.
class Fabric : public sc_core::sc_module {
 public:
  Fabric(sc_core::sc_module_name module_name, ClockDomain& clock, const SystemConfig& config,
         const SimulationConfig& simulation, const Topology& topology, const SystemTiming& timing,
         const RouteSet& routes, const std::vector<RouteId>& used_routes, std::uint32_t ni_ports,
         DeliveryObserver& observer, const ControlConfig* control = nullptr,
         bool has_tenants = false);

  [[nodiscard]] NetworkInterface& ni(NodeId node) { return *nis_[node.index()]; }
  // The nodes', without those of switches.
  [[nodiscard]] std::size_t num_nis() const { return topology_.num_nodes(); }
  // Precondition: topology.aggregates(vertex).
  [[nodiscard]] NetworkInterface& aggregation_unit(NodeId vertex) {
    return *nis_[switch_units_.at(vertex)];
  }
  // Precondition: there are tenants, and `vertex` is a ToR.
  [[nodiscard]] NetworkInterface& tenant_unit(NodeId vertex) {
    return *nis_[switch_units_.at(vertex)];
  }

  // The one at a vertex of the topology, a switch's included; nullptr where there is none.
  [[nodiscard]] NetworkInterface* ni_at(NodeId vertex);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const SystemTiming& timing() const { return timing_; }
  [[nodiscard]] std::vector<ChannelPlace> channels() { return network_->channels(); }
  [[nodiscard]] const MessageStore& messages() const { return messages_; }
  [[nodiscard]] const PathTable& paths() const { return paths_; }

  // A route of control messages, at any time. Precondition: there are control messages.
  [[nodiscard]] RouteId bind_control(const RouteSet& routes, RouteId route);

  // A route of messages beside the gradients, on the gradients' VCs, at any time: what their
  // operations call it.
  [[nodiscard]] RouteId bind_side(const RouteSet& routes, RouteId route);

  [[nodiscard]] std::uint64_t flit_hops() const { return network_->flit_hops(); }
  // Sum over routers and NIs.
  [[nodiscard]] Counters counters() const;
  // Of gradients alone.
  [[nodiscard]] std::uint64_t gradient_flit_hops() const {
    return network_->flit_hops() - network_->control_flit_hops();
  }
  [[nodiscard]] std::vector<std::uint64_t> link_flits() const { return network_->link_flits(); }
  // Of the job alone, without other tenants'.
  [[nodiscard]] std::uint64_t head_flits() const;
  [[nodiscard]] std::uint64_t injected_flits() const;
  [[nodiscard]] std::uint64_t received_flits() const;
  // What routers, links and NIs have done, up to the present cycle.
  [[nodiscard]] HardwareEvents events() const;
  [[nodiscard]] std::string monitor_violation(bool drained) {
    return network_->monitor_violation(drained);
  }
  // Something will move by the passing of time alone, however long it takes.
  [[nodiscard]] bool under_way(Cycle now) const;
  // The same of what the job's NIs do for gradients, which no control message hides and no tenant.
  [[nodiscard]] bool nis_under_way(Cycle now) const;
  // What is stuck: in the network, or, if nothing is, among the schedule tables.
  [[nodiscard]] WaitList waits(Cycle now) const;

 private:
  [[nodiscard]] std::unique_ptr<Network> build_network(const SystemConfig& config,
                                                       const SimulationConfig& simulation) const;
  // Of NI port `port` at a vertex.
  [[nodiscard]] InjectionSpec injection_spec(const SystemConfig& config, NodeId vertex,
                                             std::uint32_t port) const;
  void build_nis(const SystemConfig& config, DeliveryObserver& observer);
  void build_switch_units(const NiSpec& spec, const SystemConfig& config,
                          DeliveryObserver& observer);
  void build_ni(const std::string& ni_name, NodeId vertex, const NiSpec& spec,
                const SystemConfig& config, DeliveryObserver& observer);
  void bind_routes(const RouteSet& routes, const std::vector<RouteId>& used_routes);
  // Link port i shares NI port i mod ports.
  [[nodiscard]] BoundRoute bind_over(const RouteSet& routes, RouteId route, VcMask vcs);
  // The hops over the route's links, on those of `vcs` that its classes permit.
  [[nodiscard]] std::vector<PathHop> path_over(const RouteSet& routes, RouteId route,
                                               VcMask vcs) const;
  [[nodiscard]] std::uint32_t ports_of(NodeId vertex) const;
  [[nodiscard]] bool has_tenants_at(NodeId vertex) const {
    return has_tenants_ && topology_.is_tor(vertex);
  }

  [[nodiscard]] std::uint32_t dimension_of(LinkId link) const;

  const Topology& topology_;
  const SystemTiming& timing_;
  std::uint32_t ni_ports_;
  bool is_granted_by_flit_;  // a packet asks for the switch with each flit
  const ControlConfig* control_;
  bool has_tenants_;
  VcPartition vcs_;
  ClockDomain& clock_;
  MessageTable message_table_;
  MessageStore messages_{message_table_};
  PathTable paths_;
  std::vector<BoundRoute> bound_routes_;
  std::unique_ptr<Network> network_;
  // The nodes', then the switches'.
  std::vector<std::unique_ptr<NetworkInterface>> nis_;
  std::map<NodeId, std::size_t> switch_units_;  // in nis_
};

[[nodiscard]] FramingSpec framing_spec(const SystemConfig& config);
// Of messages in a dimension of a multi-dimensional system, whose flits have their own width.
[[nodiscard]] FramingSpec framing_spec(const SystemConfig& config, const DimensionSpec& dimension);

}  // namespace espalier
