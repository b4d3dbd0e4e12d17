// Short control and synchronization messages beside a collective: who posts which message, and its
// latency.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/point/traffic_config.h"

namespace espalier {

struct SystemConfig;

struct ControlStatistics {
  std::uint64_t messages = 0;
  double mean_cycles = 0;  // from posted to visible
  Cycle p99_cycles = 0;    // 99 % of the messages took no longer
  Cycle max_cycles = 0;
};

using BindControlRoute = std::function<RouteId(const RouteSet&, RouteId)>;

// In every cycle each node draws whether it posts a message (probability: injection_rate / flits of
// a message), from a random stream of its own, derived from seed and node. The posted messages do
// not depend on the state of the network, except for the cycle in which posting ends.
class ControlTraffic {
 public:
  // `bind` is called once for each pair of nodes, when its first message is posted.
  ControlTraffic(const Topology& topology, const ControlConfig& config,
                 std::uint64_t flits_per_message, BindControlRoute bind);
  ~ControlTraffic();
  ControlTraffic(const ControlTraffic&) = delete;
  ControlTraffic& operator=(const ControlTraffic&) = delete;

  [[nodiscard]] MessageSource& source(NodeId node);
  // Stops posting after cycle `last`, which must not be in the past.
  void close(Cycle last);
  void delivered(Cycle latency);

  [[nodiscard]] bool is_closed() const { return closed_; }
  // Precondition: closed.
  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  [[nodiscard]] std::uint64_t num_delivered() const { return latencies_.size(); }
  [[nodiscard]] bool all() const { return closed_ && latencies_.size() == expected_; }
  // True if some message will be posted after `now`.
  [[nodiscard]] bool has_more(Cycle now) const;
  [[nodiscard]] ControlStatistics statistics() const;

 private:
  class Source;
  [[nodiscard]] NodeId destination(NodeId from, std::uint64_t random) const;
  [[nodiscard]] RouteId route(NodeId from, NodeId to);

  const Topology& topology_;
  const ControlConfig& config_;
  BindControlRoute bind_;
  RouteSet routes_;
  std::map<std::pair<NodeId, NodeId>, RouteId> bound_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Cycle> latencies_;
  bool closed_ = false;
  std::uint64_t expected_ = 0;
};

// The nodes to which `from` may send.
[[nodiscard]] std::vector<NodeId> control_destinations(const Topology& topology,
                                                       ControlPattern pattern, NodeId from);

// Flits of a control message. Each of its packets has a head flit.
[[nodiscard]] std::uint64_t control_message_flits(const SystemConfig& system,
                                                  const ControlConfig& control);

}  // namespace espalier
