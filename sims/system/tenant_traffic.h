// Other tenants of a data centre: their flows between racks, beside a job.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/point/config.h"
#include "sims/system/deliveries.h"
#include "sims/system/simulation.h"
#include "sims/system/tenant_flow.h"

namespace espalier {

using BindSideRoute = std::function<RouteId(const RouteSet&, RouteId)>;

// What is posted does not depend on what happens in the network. A tenant's hosts are behind a ToR:
// their messages enter and leave the network there.
class TenantTraffic : public SideListener {
 public:
  // `bind` is called once per flow, when its first message is posted. Preconditions: the topology
  // is a data centre of several racks; all arguments outlive this object.
  TenantTraffic(const Topology& topology, const TenantsConfig& config, const ClockSpec& clock,
                BindSideRoute bind);
  ~TenantTraffic() override;
  TenantTraffic(const TenantTraffic&) = delete;
  TenantTraffic& operator=(const TenantTraffic&) = delete;

  // Of a rack's hosts.
  [[nodiscard]] MessageSource& source(std::uint32_t rack);
  void delivered(const Operation& operation, Cycle now) override;
  // Up to cycle `now`, that one included.
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

// What other tenants' packets wait for, of all flows. Does nothing where the point has none.
void add_tenants(ChannelDependencies& dependencies, const Topology& topology,
                 const RunPoint& point);

}  // namespace espalier
