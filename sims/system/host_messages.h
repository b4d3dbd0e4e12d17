// Messages between hosts, as short messages on the network.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/system/deliveries.h"
#include "sims/system/fabric.h"
#include "sims/system/side_routes.h"
#include "sims/workload/coordination/host_services.h"

namespace espalier {

// Between two ranks, messages are received in the order in which they were sent. Packets may
// overtake each other on different VCs, so a message that arrives early is kept until the messages
// before it have arrived, as in a transport protocol.
class HostMessages : public SideListener {
 public:
  using Receive = std::function<void(const HostMessage&, Cycle)>;

  // Connects the NIs. `nodes` is indexed by rank. All arguments must outlive this object.
  HostMessages(const Topology& topology, Fabric& fabric, SideRoutes& routes,
               const std::vector<NodeId>& nodes, Receive receive);
  ~HostMessages() override;

  // Hands the message to the NI in cycle `at`, which is later than now. Throws
  // std::invalid_argument if there is no route.
  void send(const HostMessage& message, Cycle at);
  void delivered(const Operation& operation, Cycle now) override;

  // The number of messages that are sent and not yet received.
  [[nodiscard]] std::uint64_t under_way() const { return sent_ - received_; }
  [[nodiscard]] std::uint64_t count() const { return received_; }

 private:
  class Source;
  struct Channel {
    RouteId route;
    std::deque<std::uint32_t> in_order;  // places of the messages in flight
  };
  struct Place {
    HostMessage message;
    Channel* channel = nullptr;
    bool has_come = false;
  };

  Channel& channel(NodeId from, NodeId to);
  [[nodiscard]] std::uint32_t take_place(const HostMessage& message, Channel& way);

  const Topology& topology_;
  Fabric& fabric_;
  SideRoutes& routes_;
  const std::vector<NodeId>& nodes_;
  Receive receive_;
  std::vector<std::unique_ptr<Source>> sources_;  // by node
  std::map<std::pair<NodeId, NodeId>, Channel> channels_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_places_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace espalier
