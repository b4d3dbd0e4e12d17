#include "sims/system/host_messages.h"

#include <stdexcept>

#include "alg/routes/routing.h"

namespace espalier {

class HostMessages::Source : public MessageSource {
 public:
  [[nodiscard]] Cycle next_ready() const override {
    return waiting_.empty() ? kNever : waiting_.front().ready;
  }
  [[nodiscard]] const Operation& front() override { return waiting_.front(); }
  void pop() override { waiting_.pop_front(); }
  void push(const Operation& operation) { waiting_.push_back(operation); }

 private:
  std::deque<Operation> waiting_;
};

HostMessages::HostMessages(const Topology& topology, Fabric& fabric, SideRoutes& routes,
                           const std::vector<NodeId>& nodes, Receive receive)
    : topology_(topology),
      fabric_(fabric),
      routes_(routes),
      nodes_(nodes),
      receive_(std::move(receive)) {
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    sources_.push_back(std::make_unique<Source>());
    fabric.ni(NodeId(n)).connect_source(*sources_.back());
  }
}

HostMessages::~HostMessages() = default;

HostMessages::Channel& HostMessages::channel(NodeId from, NodeId to) {
  const auto known = channels_.find({from, to});
  if (known != channels_.end()) return known->second;
  if (from == to)
    throw std::invalid_argument("a host sends a message to itself; messages go to other hosts");
  const RouteId route = routes_.bind(route_packet(topology_, from, to));
  return channels_.emplace(std::pair{from, to}, Channel{route, {}}).first->second;
}

std::uint32_t HostMessages::take_place(const HostMessage& message, Channel& way) {
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.emplace_back();
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  places_[place] = {message, &way, false};
  return place;
}

void HostMessages::send(const HostMessage& message, Cycle at) {
  const NodeId from = nodes_[message.from.index()];
  const NodeId to = nodes_[message.to.index()];
  Channel& way = channel(from, to);
  const std::uint32_t place = take_place(message, way);
  way.in_order.push_back(place);
  Operation operation;
  operation.flow = FlowId(place);  // identifies the message at its arrival
  operation.from = from;
  operation.to = to;
  operation.route = way.route;
  operation.bytes = message.bytes;
  operation.traffic = TrafficClass::host;
  operation.ready = at;
  sources_[from.index()]->push(operation);
  fabric_.ni(from).wake_source(at);
  ++sent_;
}

void HostMessages::delivered(const Operation& operation, Cycle now) {
  Place& come = places_[operation.flow.index()];
  come.has_come = true;
  std::deque<std::uint32_t>& in_order = come.channel->in_order;
  while (!in_order.empty() && places_[in_order.front()].has_come) {
    const std::uint32_t place = in_order.front();
    const HostMessage message = places_[place].message;
    in_order.pop_front();
    free_places_.push_back(place);
    ++received_;
    receive_(message, now);
  }
}

}  // namespace espalier
