#include "sims/system/socket_traffic.h"

#include <fmt/format.h>

#include <stdexcept>

#include "hw/topology/vertex_names.h"
#include "sockets/tlm/ni_sockets.h"

namespace espalier {

namespace {

// "tlm_1_2" beside "ni_1_2".
std::string sockets_name(const NetworkInterface& ni) {
  const std::string name = ni.basename();
  return "tlm_" + (name.rfind("ni_", 0) == 0 ? name.substr(3) : name);
}

std::string names_of_nodes(const Topology& topology) {
  constexpr std::size_t kMostNames = 8;
  const std::size_t nodes = topology.num_nodes();
  std::string names;
  for (std::size_t n = 0; n < std::min(nodes, kMostNames); ++n) {
    names += (n == 0 ? "" : ", ") + topology.vertex_name(NodeId(n));
  }
  if (nodes > kMostNames) names += ", ..., " + topology.vertex_name(NodeId(nodes - 1));
  return names;
}

}  // namespace

SocketTraffic::SocketTraffic(const Topology& topology, ClockDomain& clock, Fabric& fabric,
                             Deliveries& deliveries, TrafficSources* measured)
    : topology_(topology),
      fabric_(fabric),
      deliveries_(deliveries),
      measured_(measured),
      turns_(topology),
      routes_(topology, fabric),
      network_(
          clock, topology.num_nodes(),
          measured != nullptr ? TrafficClass::collective : TrafficClass::socket,
          [this](NodeId from, NodeId to) { return route(from, to); },
          [this] { end_if_finished(); }) {
  if (is_run()) {
    deliveries.connect_traffic(*this);
  } else {
    deliveries.connect_sockets(*this);
  }
}

NiSockets& SocketTraffic::at(const std::string& node_name) {
  if (topology_.dimensions()) {
    throw std::invalid_argument(
        "sockets: messages cannot pass from one dimension to another, so the NIs of a "
        "multi-dimensional system have no sockets");
  }
  if (const NodeId node = find_vertex(topology_, node_name);
      node.valid() && !topology_.is_switch(node)) {
    NetworkInterface& ni = fabric_.ni(node);
    return network_.at(ni, sockets_name(ni));
  }
  throw std::invalid_argument(fmt::format("sockets: {} has no node '{}'; its nodes are {}",
                                          topology_.name(), node_name, names_of_nodes(topology_)));
}

RouteId SocketTraffic::route(NodeId from, NodeId to) { return routes_.bind(turns_.next(from, to)); }

void SocketTraffic::delivered(const Operation& operation, Cycle now) {
  if (is_run()) measured_->delivered(operation, now);
  network_.delivered(operation, now);
}

void SocketTraffic::finish() {
  network_.finish();
  end_if_finished();
}

void SocketTraffic::end_if_finished() {
  if (!is_run() || !network_.finished() || completed() != posted()) return;
  deliveries_.expect_exactly(posted());
}

std::string SocketTraffic::end() {
  if (in_flight() != 0) {
    return fmt::format("{} of {} messages of the sockets are delivered", network_.delivered(),
                       posted());
  }
  if (completed() != posted()) {
    return fmt::format("{} of {} messages of the sockets have END_RESP; {}", completed(), posted(),
                       describe_waits());
  }
  deliveries_.expect_exactly(posted());
  return {};
}

}  // namespace espalier
