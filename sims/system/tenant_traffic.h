// Other tenants of a data centre: their flows between racks, while a job runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/route_set.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/point/traffic_config.h"
#include "sims/system/deliveries.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunPoint;

// Sends and pauses in turn, for geometrically distributed times. While it sends, it posts messages
// at its rate; a pause interrupts the interval between two messages, which continues afterwards.
// The times depend only on the seed and the flow's number.
class TenantFlow {
 public:
  TenantFlow(const TenantsConfig& config, const ClockSpec& clock, std::uint32_t number);

  // When the next message is posted; never decreases.
  [[nodiscard]] Cycle next() const { return next_; }
  void advance();

 private:
  [[nodiscard]] std::uint64_t draw() { return drawn_stream(count_++); }
  [[nodiscard]] std::uint64_t drawn_stream(std::uint64_t index) const;
  // Returns at least 1. Precondition: a mean of at least one cycle.
  [[nodiscard]] Cycle draw_time(Cycle mean);
  void find_next();

  std::uint64_t stream_;
  std::uint64_t count_ = 0;
  Cycle mean_on_;
  Cycle mean_off_;
  // Messages are bytes_ * hertz_ / bytes_per_second_ cycles of sending time apart.
  std::uint64_t bytes_;
  std::uint64_t hertz_;
  std::uint64_t bytes_per_second_;
  std::uint64_t message_ = 0;  // number of the next message
  Cycle phase_ = 0;            // of the first message
  Cycle begin_ = 0;            // start of the current sending phase
  Cycle length_ = 0;
  Cycle sent_before_ = 0;  // sending time before the current phase
  Cycle next_ = 0;
};

// The two different racks that flow `number` joins.
struct RackPair {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
// Precondition: at least 2 racks.
[[nodiscard]] RackPair racks_of_flow(const TenantsConfig& config, std::uint32_t racks,
                                     std::uint32_t number);

using BindSideRoute = std::function<RouteId(const RouteSet&, RouteId)>;

// The posted messages do not depend on the state of the network. A tenant's hosts are behind a ToR:
// their messages enter and leave the network at the ToR.
class TenantTraffic : public SideListener {
 public:
  // `bind` is called once for each flow, when its first message is posted. Preconditions: the
  // topology is a data centre of several racks; all arguments outlive this object.
  TenantTraffic(const Topology& topology, const TenantsConfig& config, const ClockSpec& clock,
                BindSideRoute bind);
  ~TenantTraffic() override;
  TenantTraffic(const TenantTraffic&) = delete;
  TenantTraffic& operator=(const TenantTraffic&) = delete;

  // The source for the hosts of a rack.
  [[nodiscard]] MessageSource& source(std::uint32_t rack);
  void delivered(const Operation& operation, Cycle now) override;
  // Statistics up to and including cycle `now`.
  [[nodiscard]] TenantStatistics statistics(Cycle now) const;

 private:
  class Source;
  [[nodiscard]] RouteId bind(std::uint32_t flow);

  const Topology& topology_;
  const TenantsConfig& config_;
  BindSideRoute bind_;
  RouteSet routes_;
  std::vector<std::unique_ptr<Source>> sources_;  // by rack
  std::uint64_t messages_ = 0;
  Bytes bytes_ = 0;
  Cycle latency_ = 0;
};

// Adds the channel dependencies of all flows of other tenants. Does nothing if the point has no
// tenants.
void add_tenants(ChannelDependencies& dependencies, const Topology& topology,
                 const RunPoint& point);

}  // namespace espalier
