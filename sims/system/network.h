// The routers and links of a system, in either fidelity.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "flowctl/channel_observer.h"
#include "flowctl/flit.h"
#include "flowctl/message.h"
#include "flowctl/train/packet_stops.h"
#include "flowctl/train/train_channel.h"
#include "flowctl/virtual_channels.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
#include "hw/counters.h"
#include "hw/rtl_probe.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/injection_port.h"
#include "ni/message_store.h"
#include "router/router_spec.h"
#include "sims/model/external_parts.h"
#include "sims/point/simulation_config.h"
#include "sims/point/topology_config.h"
#include "sims/point/traffic_config.h"
#include "sockets/signals/ni_socket.h"
#include "sockets/signals/router_socket.h"
#include "sockets/signals/signal_socket.h"

namespace espalier {

struct SystemConfig;

// A channel of a network: the name of its link in the module hierarchy, and how to watch it.
struct ChannelPlace {
  std::string name;
  ChannelSpec spec;
  LinkTiming link;
  std::function<void(ChannelObserver&)> observe;
};

// One router per vertex, named as in the topology. Output port i of a router leads to the vertex's
// i-th outgoing link; ejection ports follow. Input ports are numbered likewise.
class Network {
 public:
  virtual ~Network() = default;

  // Elaboration: creates port `port` of a network interface at a node or in a switch. connect()
  // must follow.
  [[nodiscard]] virtual std::unique_ptr<InjectionPort> injection_port(NodeId node,
                                                                      std::uint32_t port,
                                                                      const InjectionSpec& spec,
                                                                      CreditListener& ni) = 0;
  // Cycle fidelity: the channel of that port, for an external NI.
  [[nodiscard]] virtual Channel& injected_channel(NodeId /*node*/, std::uint32_t /*port*/) {
    throw std::logic_error("packet trains have no channel for an external NI");
  }
  virtual void add_ejection(NodeId node, std::uint32_t port, PacketSink& ni, Cycle latency) = 0;
  virtual void connect() = 0;

  // Lets routers of a part of the network that has carried nothing arbitrate from now on as those
  // of another part will, whose routes look alike. Nothing may be on its way. `links`, `nodes`: of
  // this part, and in the same place of the other. Train fidelity.
  using LinkPairs = std::vector<std::pair<LinkId, LinkId>>;
  using NodePairs = std::vector<std::pair<NodeId, NodeId>>;
  virtual void copy_arbiters(const LinkPairs& /*links*/, const NodePairs& /*nodes*/) {
    throw std::logic_error("only routers for packet trains copy arbiters");
  }

  // Flits that have passed routers up to the current cycle.
  [[nodiscard]] virtual std::uint64_t flit_hops() const = 0;
  // The part of flit_hops() that belongs to control messages.
  [[nodiscard]] virtual std::uint64_t control_flit_hops() const { return 0; }
  // Of routers and injection ports; none in cycle fidelity.
  [[nodiscard]] virtual PacketStops packet_stops() const { return {}; }
  // Sum over the routers.
  [[nodiscard]] virtual Counters counters() const = 0;
  // Flits carried by the topology's links, by LinkId.
  [[nodiscard]] virtual std::vector<std::uint64_t> link_flits() const = 0;
  // The first broken flow-control rule with its place; empty if none is broken or monitors are off.
  [[nodiscard]] virtual std::string monitor_violation(bool drained) = 0;
  // True if something will move without another event.
  [[nodiscard]] virtual bool under_way(Cycle now) const = 0;
  virtual void explain_waits(Cycle now, WaitList& waits) const = 0;
  // By router, then input port: channels of links, then of injection ports.
  [[nodiscard]] virtual std::vector<ChannelPlace> channels() = 0;
  // The Verilog models that decide in routers.
  [[nodiscard]] virtual std::vector<RtlPlace> rtl() { return {}; }
};

// The ports of external routers and NIs (system.topology.external), made while a network is built.
struct Sockets {
  Sockets(ClockDomain& domain, const Topology& topology, const ExternalConfig& config)
      : parts(external_parts(topology, config)), clock("_sockets", domain) {}

  ExternalParts parts;
  SocketClock clock;
  [[nodiscard]] bool has_ni(NodeId node) const {
    return std::find(parts.nis.begin(), parts.nis.end(), node) != parts.nis.end();
  }

  std::map<NodeId, RouterSocket*> routers;
  std::map<NodeId, std::unique_ptr<NiSocket>> nis;
};

struct NetworkPlan {
  const Topology& topology;
  const SystemTiming& timing;
  const SystemConfig& config;
  const SimulationConfig& simulation;
  std::vector<std::uint32_t> ni_ports;     // by vertex; for a switch: ports of its aggregation unit
  std::vector<std::uint32_t> vc_depths;    // by dimension; empty: as configured for the router
  const ControlConfig* control = nullptr;  // nullptr: no control messages
  VcMask control_vcs = 0;                  // set aside for control messages
  // nullptr: every router is built in.
  Sockets* sockets = nullptr;
  const MessageStore* messages = nullptr;  // for the ports of external routers

  [[nodiscard]] bool is_external(NodeId vertex) const {
    if (sockets == nullptr) return false;
    const auto& routers = sockets->parts.routers;
    return std::find(routers.begin(), routers.end(), vertex) != routers.end();
  }
};

// Both create the routers as children of the sc_module that is being constructed.
[[nodiscard]] std::unique_ptr<Network> make_flit_network(const NetworkPlan& plan,
                                                         ClockDomain& clock,
                                                         const MessageTable& messages,
                                                         const PathTable& paths);
[[nodiscard]] std::unique_ptr<Network> make_train_network(const NetworkPlan& plan,
                                                          ClockDomain& clock,
                                                          const MessageTable& messages,
                                                          const PathTable& paths);

}  // namespace espalier
