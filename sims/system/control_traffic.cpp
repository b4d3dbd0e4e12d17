#include "sims/system/control_traffic.h"

#include <algorithm>
#include <deque>

#include "alg/routes/routing.h"
#include "flowctl/framing.h"
#include "hw/hash.h"
#include "sims/point/system_config.h"

namespace espalier {

namespace {

// The largest offset from a sender to a destination. Nodes are numbered cyclically from the sender
// on.
std::size_t farthest_destination(const Topology& topology, ControlPattern pattern) {
  return pattern == ControlPattern::uniform ? topology.num_nodes() - 1 : 1;
}

}  // namespace

// One node's host. It draws one message ahead; once the last cycle is known, it draws all remaining
// messages.
class ControlTraffic::Source : public MessageSource {
 public:
  Source(ControlTraffic& traffic, NodeId node, std::uint64_t flits_per_message)
      : traffic_(traffic),
        node_(node),
        stream_(mix(traffic.config_.seed, node.index())),
        probability_(traffic.config_.injection_rate / static_cast<double>(flits_per_message)),
        last_(traffic.config_.duration_cycles == 0 ? kNever - 1
                                                   : traffic.config_.duration_cycles - 1) {
    draw();
  }

  [[nodiscard]] Cycle next_ready() const override {
    return waiting_.empty() ? kNever : waiting_.front().ready;
  }
  [[nodiscard]] const Operation& front() override {
    const Draw& next = waiting_.front();
    operation_.traffic = TrafficClass::control;
    operation_.from = node_;
    operation_.to = next.to;
    operation_.route = traffic_.route(node_, next.to);
    operation_.bytes = traffic_.config_.message_bytes;
    operation_.ready = next.ready;
    return operation_;
  }
  void pop() override {
    waiting_.pop_front();
    ++posted_;
    if (waiting_.empty() && !traffic_.closed_) draw();
  }

  // Returns the number of messages, including those still to be posted.
  std::uint64_t close(Cycle last) {
    last_ = std::min(last_, last);
    while (!waiting_.empty() && waiting_.back().ready > last_) waiting_.pop_back();
    while (draw()) {
    }
    return posted_ + waiting_.size();
  }

 private:
  struct Draw {
    Cycle ready;
    NodeId to;
  };

  bool draw() {
    while (cycle_ <= last_) {
      const Cycle ready = cycle_++;
      const std::uint64_t drawn = mix(stream_, ready);
      if (unit_interval(drawn) >= probability_) continue;
      waiting_.push_back({ready, destination(mix(drawn))});
      return true;
    }
    return false;
  }
  [[nodiscard]] NodeId destination(std::uint64_t random) const {
    return traffic_.destination(node_, random);
  }

  ControlTraffic& traffic_;
  NodeId node_;
  std::uint64_t stream_;
  double probability_;
  Cycle last_;  // nothing is posted after this cycle
  Cycle cycle_ = 0;
  std::deque<Draw> waiting_;
  std::uint64_t posted_ = 0;
  Operation operation_;
};

ControlTraffic::ControlTraffic(const Topology& topology, const ControlConfig& config,
                               std::uint64_t flits_per_message, BindControlRoute bind)
    : topology_(topology), config_(config), bind_(std::move(bind)), routes_(topology) {
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    sources_.push_back(std::make_unique<Source>(*this, NodeId(n), flits_per_message));
  }
}

ControlTraffic::~ControlTraffic() = default;

MessageSource& ControlTraffic::source(NodeId node) { return *sources_[node.index()]; }

RouteId ControlTraffic::route(NodeId from, NodeId to) {
  const auto [known, is_new] = bound_.try_emplace({from, to});
  if (is_new) {
    const RouteId route = routes_.add(topology_, route_packet(topology_, from, to));
    known->second = bind_(routes_, route);
  }
  return known->second;
}

NodeId ControlTraffic::destination(NodeId from, std::uint64_t random) const {
  const std::size_t away = 1 + random % farthest_destination(topology_, config_.pattern);
  return NodeId((from.index() + away) % topology_.num_nodes());
}

void ControlTraffic::close(Cycle last) {
  closed_ = true;
  for (const auto& source : sources_) expected_ += source->close(last);
}

void ControlTraffic::delivered(Cycle latency) { latencies_.push_back(latency); }

bool ControlTraffic::has_more(Cycle now) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const auto& source) {
    return source->next_ready() != kNever && source->next_ready() > now;
  });
}

ControlStatistics ControlTraffic::statistics() const {
  if (latencies_.empty()) return {};
  std::vector<Cycle> sorted = latencies_;
  std::sort(sorted.begin(), sorted.end());
  Cycle sum = 0;
  for (const Cycle latency : sorted) sum += latency;
  const std::size_t rank = (sorted.size() * 99 + 99) / 100;  // nearest rank
  return {sorted.size(), static_cast<double>(sum) / static_cast<double>(sorted.size()),
          sorted[rank - 1], sorted.back()};
}

std::vector<NodeId> control_destinations(const Topology& topology, ControlPattern pattern,
                                         NodeId from) {
  std::vector<NodeId> nodes;
  for (std::size_t away = 1; away <= farthest_destination(topology, pattern); ++away) {
    nodes.emplace_back((from.index() + away) % topology.num_nodes());
  }
  return nodes;
}

std::uint64_t control_message_flits(const SystemConfig& system, const ControlConfig& control) {
  FramingSpec spec;
  spec.message_mode = false;
  spec.flit_bytes = system.clock.flit_bytes;
  spec.payload_bytes = system.flow_control.payload_bytes;
  return Framing(spec, control.message_bytes).flits();
}

}  // namespace espalier
