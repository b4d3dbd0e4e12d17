// The hosts of point-to-point traffic: they post messages while the system runs, in an open or a
// closed loop, and measure the messages of the measurement window.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hw/clock/clock_domain.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/point/traffic_config.h"
#include "sims/system/deliveries.h"
#include "sims/system/side_routes.h"
#include "sims/system/simulation.h"
#include "sims/system/traffic.h"

namespace espalier {

struct RunPoint;

// Open loop: a source posts its messages however full the network is, and its queue has no bound.
// Closed loop: a source draws no request while its outstanding ones are without a reply; the
// receiver posts the reply in the cycle after the request is visible. Ejection never stalls, so
// requests cannot keep replies from leaving the network, and both share all VCs.
//
// The sources end when all measured messages have arrived, at the end of the window if the network
// is saturated then, or after the drain time. Everything posted is then delivered. Messages of a
// file are all measured.
class TrafficSources : public Clocked, public SideListener {
 public:
  // Connects a source to every NI of `fabric`. Precondition: point.traffic. All arguments outlive
  // the sources.
  TrafficSources(const Topology& topology, const RunPoint& point, ClockDomain& clock,
                 Fabric& fabric, Deliveries& deliveries);
  ~TrafficSources() override;
  TrafficSources(const TrafficSources&) = delete;
  TrafficSources& operator=(const TrafficSources&) = delete;

  void evaluate(Cycle now) override;
  void delivered(const Operation& operation, Cycle now) override;

  // True if some source will post a message after `now` without being told of a delivery.
  [[nodiscard]] bool has_more(Cycle now) const;
  // Messages that become ready up to `now`, as far as the sources have drawn them.
  [[nodiscard]] std::uint64_t posted(Cycle now) const;
  // The part of warm-up and window that is over, 0 to 1.
  [[nodiscard]] double progress(Cycle now) const;
  [[nodiscard]] TrafficStatistics statistics() const;

 private:
  class Source;
  struct Sample {
    Cycle ready;
    Cycle latency;
  };

  [[nodiscard]] bool is_measured(Cycle ready) const {
    return measures_all_ || (ready >= config_.warmup_cycles && ready < config_.window_end());
  }
  void generated(NodeId requester, Cycle ready, bool is_reply);
  void measured(Cycle ready, Cycle now);
  // No source posts a message after cycle `last`.
  void close(Cycle last);
  [[nodiscard]] bool accepts_window() const;
  [[nodiscard]] std::optional<double> half_width() const;
  [[nodiscard]] RouteId route(NodeId from, NodeId to, std::uint32_t turn);

  const Topology& topology_;
  const TrafficConfig& config_;
  const bool measures_all_;  // a file or sockets have no measurement window
  ClockDomain& clock_;
  ClockedId id_;
  Fabric& fabric_;
  Deliveries& deliveries_;
  SideRoutes routes_;
  const std::uint32_t num_turns_;  // messages of a pair take so many channels of routes in turn
  std::uint64_t request_flits_ = 0;
  std::uint64_t reply_flits_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<Sample> samples_;
  std::uint64_t to_measure_ = 0;  // messages of the window, as far as they are drawn
  // In the window; a reply counts for the node that asked.
  std::vector<std::uint64_t> generated_flits_;  // by node
  std::vector<std::uint64_t> accepted_flits_;   // by node
  bool window_over_ = false;                    // all messages of the window are drawn
  bool closed_ = false;
  bool drain_time_over_ = false;
};

}  // namespace espalier
