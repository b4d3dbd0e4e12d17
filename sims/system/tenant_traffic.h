// Other tenants of a data centre: their flows between racks, while a job runs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/point/traffic_config.h"
#include "sims/system/deliveries.h"
#include "sims/system/simulation.h"
#include "sims/system/tenant_flow.h"

namespace espalier {

struct RunPoint;

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
