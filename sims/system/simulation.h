// Simulates one point: elaborates the system, runs it, and returns the outcome. One simulation per
// process, because SystemC elaborates once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "flowctl/train/packet_stops.h"
#include "hw/counters.h"
#include "hw/ids.h"
#include "hw/topology/topology.h"
#include "ni/operation.h"
#include "sims/system/control_traffic.h"
#include "sims/system/hardware_events.h"

namespace espalier {

struct RunPoint;

// Other tenants' traffic during the job.
struct TenantStatistics {
  std::uint64_t posted_messages = 0;
  Bytes posted_bytes = 0;
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  double mean_cycles = 0;  // from posted to visible, over the messages that have arrived
  Cycle duration = 0;      // cycles in which messages were posted
};

class Fabric;

// Watches a whole system while it is simulated: waveforms, accounts of where time went.
class SystemObserver {
 public:
  virtual ~SystemObserver() = default;
  // The system is built and loaded, and no cycle has been simulated. The fabric outlives the other
  // calls.
  virtual void begin(Fabric& fabric) = 0;
  // All cycles before `until` are over.
  virtual void advance(Cycle until) = 0;
  // The simulation is over; `end` is the cycle after its last one.
  virtual void finish(Cycle end) = 0;
};

struct LatencyStatistics {
  std::uint64_t messages = 0;
  double mean_cycles = 0;
  Cycle max_cycles = 0;
};

// Point-to-point traffic. Latencies are from generated to visible, in a closed loop until the reply
// is visible, over the messages that are generated in the measurement window. Of a file, all
// messages are measured, and the members that need a window are empty.
struct TrafficStatistics {
  std::uint64_t messages = 0;
  double mean_cycles = 0;
  Cycle p50_cycles = 0;  // 50 % of the messages took no longer
  Cycle p95_cycles = 0;
  Cycle p99_cycles = 0;
  Cycle max_cycles = 0;
  // 95 % confidence interval of the mean, by batch means; empty if a batch has no message.
  std::optional<double> half_width_cycles;
  // Flits per node and cycle that are generated, and that become visible, in the window.
  std::optional<double> generated;
  std::optional<double> accepted;
  std::optional<double> accepted_min;  // the smallest over the sources that generate messages
  std::optional<bool> saturated;       // empty without warm-up
};

// One of several collectives in one set of tables (alg/schedule/schedule_table.h), posted by
// the hosts of all nodes in the same cycle.
struct PostedCollective {
  Timestep first_step = 1;
  ChunkId first_chunk{0};
  Cycle at = 0;  // no NI starts the collective earlier
};
struct CollectiveSpan {
  Cycle first_issue = kNever;
  Cycle last_visible = 0;  // reduction included
};

struct SimulationOutcome {
  bool complete = false;  // every message of every table delivered
  bool verified = false;  // complete, data right at every rank, no flow-control rule broken
  std::string failure;    // reason, for the user; empty if verified
  bool unsuited = false;  // the failure: the algorithm plans no such collective among the ranks
  Cycle cycles = 0;       // from first issue to last data visible, reduction included
  std::uint64_t flit_hops = 0;
  Counters counters;
  std::uint64_t flits_injected = 0;
  std::uint64_t head_flits = 0;
  double link_utilization_mean = 0;       // over all links and `cycles`
  std::vector<std::uint64_t> link_flits;  // by LinkId
  std::vector<double> link_utilization;   // by LinkId; filled if the point asks for it
  std::uint32_t ni_ports = 0;
  std::vector<CollectiveSpan> collectives;  // by post; empty without posts
  // traffic: from ready to visible; collective: from issued to visible.
  LatencyStatistics latency;
  std::optional<ControlStatistics> control;  // set if there are control messages
  std::optional<TrafficStatistics> traffic;  // set if the run is point-to-point traffic
  std::optional<TenantStatistics> tenants;   // set if there are other tenants
  HardwareEvents events;
  std::uint64_t evaluations = 0;
  PacketStops stops;
  double engine_seconds = 0;  // CPU time of the simulation proper; not reproducible
};

// Called at intervals with the share of the data delivered so far, 0 to 1.
using ProgressCallback = std::function<void(double)>;
// Called for every message in the cycle in which it became visible, reduction included. Calls are
// in the order of these cycles.
using DeliveryCallback = std::function<void(const Operation&, Cycle)>;

class Elaboration;
class GraphHosts;
class BusyLinks;

// Called while the simulation runs; each may be empty.
struct SimulationHooks {
  ProgressCallback progress;
  DeliveryCallback delivered;
  std::vector<SystemObserver*> observers = {};
  // Called once, when the system is built and before its first cycle: a program attaches modules of
  // its own (sims/system/elaboration.h).
  std::function<void(Elaboration&)> elaborate = {};
  // A graph of work then keeps the times of its nodes and the use of the links, and calls this when
  // it has ended without a failure.
  std::function<void(const GraphHosts&, const BusyLinks&)> step_ended = {};
  // Called before `progress`, with a proven lower bound of SimulationOutcome::cycles: the cycles so
  // far, and the time in which the busiest link passes the rest of its messages.
  std::function<void(Cycle)> at_least = {};
  // The run ends, incomplete, after about so many evaluations of modules.
  std::uint64_t most_evaluations = ~std::uint64_t{0};
};

// Throws std::invalid_argument if the configuration cannot be built (link rates without a common
// tick, an external router without a module, ...).
[[nodiscard]] SimulationOutcome simulate_collective(const Topology& topology, const RunPoint& point,
                                                    const ScheduleTables& tables,
                                                    const SimulationHooks& hooks);
// As simulate_collective(), for several collectives one after the other, in the order of their
// steps and chunks.
[[nodiscard]] SimulationOutcome simulate_collectives(const Topology& topology,
                                                     const RunPoint& point,
                                                     const ScheduleTables& tables,
                                                     const std::vector<PostedCollective>& posts,
                                                     const SimulationHooks& hooks);
// Control messages alone, on an idle network. `cycles` is 0: there is no gradient to wait for.
[[nodiscard]] SimulationOutcome simulate_control(const Topology& topology, const RunPoint& point,
                                                 const SimulationHooks& hooks);
[[nodiscard]] SimulationOutcome simulate_traffic(const Topology& topology, const RunPoint& point,
                                                 const SimulationHooks& hooks);

}  // namespace espalier
