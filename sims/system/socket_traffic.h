// Messages of foreign TLM initiators on the simulated network.
#pragma once

#include <string>

#include "alg/routes/routing.h"
#include "hw/clock/clock_domain.h"
#include "hw/topology/topology.h"
#include "sims/system/deliveries.h"
#include "sims/system/fabric.h"
#include "sims/system/side_routes.h"
#include "sims/system/traffic_sources.h"
#include "sockets/tlm/tlm_network.h"

namespace espalier {

// Either these messages are the run (traffic.pattern: sockets), or they share queues and VCs with
// the run. A run of sockets ends when the kernel has no event left and all messages have arrived,
// or, after finish(), with the last END_RESP.
class SocketTraffic : public SideListener {
 public:
  // `measured`: the statistics of the run; nullptr if the messages are not the run. All arguments
  // outlive this object.
  SocketTraffic(const Topology& topology, ClockDomain& clock, Fabric& fabric,
                Deliveries& deliveries, TrafficSources* measured);

  // The sockets at the NI of a node. During elaboration only. Throws std::invalid_argument if no
  // node has this name.
  [[nodiscard]] NiSockets& at(const std::string& node_name);
  void set_address_bits(std::uint32_t bits) { network_.set_address_bits(bits); }
  void finish();

  void delivered(const Operation& operation, Cycle now) override;

  [[nodiscard]] bool is_run() const { return measured_ != nullptr; }
  [[nodiscard]] std::uint64_t posted() const { return network_.posted(); }
  [[nodiscard]] std::uint64_t completed() const { return network_.completed(); }
  [[nodiscard]] std::uint64_t in_flight() const { return network_.posted() - network_.delivered(); }
  // True if a message is posted after `now`, because its delay is annotated.
  [[nodiscard]] bool has_more(Cycle now) const { return network_.has_more(now); }
  // True if nothing moves because the program has not posted the next message.
  [[nodiscard]] bool waits_for_program() const {
    return is_run() && in_flight() == 0 && !network_.finished();
  }
  // Called when no initiator can post a message any more: the kernel has no event left, or
  // sc_stop() was called. Returns what is missing; otherwise the run ends, and the text is empty.
  [[nodiscard]] std::string end();
  // Which sockets wait for which phase; empty if none waits.
  [[nodiscard]] std::string describe_waits() const { return network_.describe_waits(); }

 private:
  [[nodiscard]] RouteId route(NodeId from, NodeId to);
  void end_if_finished();

  const Topology& topology_;
  Fabric& fabric_;
  Deliveries& deliveries_;
  TrafficSources* measured_;
  RouteTurns turns_;
  SideRoutes routes_;
  TlmNetwork network_;
};

}  // namespace espalier
