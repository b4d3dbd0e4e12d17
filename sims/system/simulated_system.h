// Everything that one simulation owns, from clock to network interfaces, and the main loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/routes/links.h"
#include "alg/routes/route_set.h"
#include "alg/schedule/schedule.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/node_memory.h"
#include "sims/point/traffic_config.h"
#include "sims/system/control_traffic.h"
#include "sims/system/deliveries.h"
#include "sims/system/elaboration.h"
#include "sims/system/fabric.h"
#include "sims/system/simulation.h"
#include "sims/system/socket_traffic.h"
#include "sims/system/tenant_traffic.h"
#include "sims/system/traffic_sources.h"

namespace espalier {

struct RunPoint;
struct SystemConfig;

// The hosts of a training job, as the main loop sees them.
class HostSide {
 public:
  virtual ~HostSide() = default;
  // True if a host has set a timer or is computing: it will act after `now` without a message.
  [[nodiscard]] virtual bool under_way(Cycle now) const = 0;
  // For the watchdog: which host waits for which other host.
  virtual void explain_waits(WaitList& waits) const = 0;
};

class SimulatedSystem {
 public:
  // `operations`: number of operations to expect, or kNever if the traffic sources report it when
  // they finish. `suffix` ends the SystemC
  // names of the system's modules, so that one process can hold several systems. All arguments must
  // outlive the system.
  SimulatedSystem(const Topology& topology, const RunPoint& point, const RouteSet& routes,
                  const std::vector<RouteId>& used_routes, std::uint32_t ni_ports,
                  std::uint64_t operations, const SimulationHooks& hooks,
                  const std::string& suffix = {});

  Fabric& fabric() { return fabric_; }
  Deliveries& deliveries() { return deliveries_; }
  ClockDomain& clock() { return clock_; }
  // To be called before the simulation; `hosts` must outlive the simulation.
  void connect_hosts(const HostSide& hosts) { hosts_ = &hosts; }
  [[nodiscard]] const SystemTiming& timing() const { return timing_; }
  // A message that the run will send, for SimulationHooks::at_least.
  void expect_on_links(RouteId route, Bytes bytes);

  // Simulates until everything is delivered or nothing moves any more. The caller sets the
  // outcome's `verified`, because it knows the expected data.
  SimulationOutcome run(Bytes total_bytes);
  // How busy links were with outcome.link_flits.
  void measure_links(SimulationOutcome& outcome) const;

 private:
  void slow_dma_engines();
  void let_program_elaborate();
  // Ends a run whose program has posted its last message. Returns why the run must end otherwise;
  // empty if it goes on, or has ended as it should.
  [[nodiscard]] std::string end_of_sockets();
  void connect_control(const ControlConfig& config);
  void connect_tenants(const TenantsConfig& config);
  // Control or tenant traffic that lasts as long as the collective does not count as progress;
  // otherwise the watchdog would never fire.
  [[nodiscard]] bool only_gradients_count() const {
    return tenants_ || (control_ && !control_->is_closed());
  }
  // Flit hops of the traffic that counts as progress.
  [[nodiscard]] std::uint64_t movement() const;
  [[nodiscard]] bool is_under_way() const;
  // True if flits have moved since the last call. `before` keeps the count between calls.
  [[nodiscard]] bool moved_since(std::uint64_t& before) const;
  // Cycles without movement before the watchdog fires. Flits in flight are waited for if they do
  // not count as progress.
  [[nodiscard]] Cycle patience() const;
  [[nodiscard]] Cycle least_cycles() const;
  [[nodiscard]] std::string describe_stop() const;
  [[nodiscard]] SimulationOutcome collect();

  const RunPoint& point_;
  const Topology& topology_;
  const RouteSet& routes_;
  std::vector<Bytes> expected_bytes_;  // by link
  const SystemTiming timing_;          // of the real hardware, with slow links
  ClockDomain clock_;
  const SimulationHooks& hooks_;
  Deliveries deliveries_;
  Fabric fabric_;
  std::optional<ControlTraffic> control_;
  const HostSide* hosts_ = nullptr;
  std::optional<TenantTraffic> tenants_;
  std::optional<TrafficSources> traffic_;
  std::optional<SocketTraffic> sockets_;  // set if a program may attach modules
  std::optional<Elaboration> elaboration_;
  std::uint32_t ni_ports_;
};

// Compares each rank's memory with the result of the collective. Returns the first wrong rank and
// chunk as text; empty if all are right. `memories`: by rank. `first`: see NodeMemory.
[[nodiscard]] std::string check_data(const std::vector<NodeMemory>& memories, CollectiveOp op,
                                     const std::vector<Chunk>& chunks, ChunkId first = ChunkId(0),
                                     const Scope& scope = {});

// NI ports of a node whose messages may take any of its links: system.ni.ports, or by default
// enough for all links of every node.
[[nodiscard]] std::uint32_t ni_ports_for_all_links(const Topology& topology,
                                                   const SystemConfig& system);

// Explains a standstill: which module waits for which other module (wait_graph.cpp). One line for
// each wait of the first cycle found ("a waits for b: why"). Without a cycle, the lines show the
// longest chain of waits. `most` limits the number of lines.
[[nodiscard]] std::string describe_waits(const WaitList& waits, std::size_t most = 24);

}  // namespace espalier
