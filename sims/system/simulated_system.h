// Everything that one simulation owns, from clock to network interfaces, and its main loop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/clock/clock_domain.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/system/control_traffic.h"
#include "sims/system/deliveries.h"
#include "sims/system/fabric.h"
#include "sims/system/host_side.h"
#include "sims/system/simulation.h"
#include "sims/system/tenant_traffic.h"

namespace espalier {

class SimulatedSystem {
 public:
  // `operations`: that the issue engines and hosts will issue. All arguments must outlive it.
  // `suffix` tells the modules of several systems in one process apart: `clock` and `net` with it.
  SimulatedSystem(const Topology& topology, const RunPoint& point, const RouteSet& routes,
                  const std::vector<RouteId>& used_routes, std::uint32_t ni_ports,
                  std::uint64_t operations, const std::vector<PostedCollective>& posts,
                  const SimulationHooks& hooks, const std::string& suffix = {});

  Fabric& fabric() { return fabric_; }
  Deliveries& deliveries() { return deliveries_; }
  ClockDomain& clock() { return clock_; }
  // Before the simulation, which `hosts` must outlive.
  void connect_hosts(const HostSide& hosts) { hosts_ = &hosts; }
  [[nodiscard]] const SystemTiming& timing() const { return timing_; }

  // Simulates until everything is delivered or nothing moves any more. The outcome's `verified` is
  // left to the caller, who knows what memory should hold.
  SimulationOutcome run(Bytes total_bytes);

 private:
  void slow_dma_engines();
  void connect_control(const ControlConfig& config);
  void connect_tenants(const TenantsConfig& config);
  // While control messages come for as long as the gradients take, or other tenants' do, they must
  // not hide that nothing else moves.
  [[nodiscard]] bool only_gradients_count() const {
    return tenants_ || (control_ && !control_->is_closed());
  }
  // Flits, of those that count.
  [[nodiscard]] std::uint64_t movement() const;
  [[nodiscard]] bool is_under_way() const;
  // Whether flits have moved since `before` was asked for last.
  [[nodiscard]] bool moved_since(std::uint64_t& before) const;
  // Where what is under way does not count, it is waited for.
  [[nodiscard]] Cycle patience() const;
  [[nodiscard]] std::string describe_stop() const;
  [[nodiscard]] SimulationOutcome collect();

  const RunPoint& point_;
  const Topology& topology_;
  const SystemTiming timing_;  // of the hardware as it is, slow links included
  ClockDomain clock_;
  const SimulationHooks& hooks_;
  Deliveries deliveries_;
  Fabric fabric_;
  std::optional<ControlTraffic> control_;
  const HostSide* hosts_ = nullptr;
  std::optional<TenantTraffic> tenants_;
  std::uint32_t ni_ports_;
};

}  // namespace espalier
