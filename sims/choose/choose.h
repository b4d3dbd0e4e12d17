// What the NIs execute for a configured collective. `algorithm: auto` is the fastest of its
// candidates: schedules, plans on dimensions, and built-in programs. They are ranked by planned
// time, and simulated where that does not settle which one is the fastest. So choose before this
// process simulates. What is taken says why. A question that `choices` knows is not asked again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alg/generators/process_group.h"
#include "alg/plans/planner.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/choose/choices.h"
#include "sims/choose/collective_work.h"
#include "sims/model/build_program.h"
#include "sims/point/collective_config.h"
#include "sims/point/ni_config.h"
#include "sims/system/stream_programs.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

struct RunPoint;
struct SystemConfig;
struct TopologyConfig;

// Makes the work of the point's algorithm. auto takes a schedule or a program. Precondition: the
// algorithm is no planner and fits the topology (the reader checked it).
[[nodiscard]] CollectiveWork generate_collective(const Topology& topology, const RunPoint& point,
                                                 const Choices& choices = Choices());

// The same, of schedules alone.
[[nodiscard]] ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                                             const CollectiveConfig& collective,
                                             const Choices& choices = Choices());

// The tables or the program of a job's collective, for simulate_hosts(), by the point's algorithm.
// auto, and an algorithm that does not compute the operation, or a program of a file with other
// ranks, leave it to the schedule that is planned to be the fastest; nothing is simulated.
// Certified, unless the point does not check. A group's messages take the whole network's routes,
// because messages of several groups are in flight at the same time. Throws std::invalid_argument
// if the algorithm does not make such work, and std::runtime_error if it is not certified.
[[nodiscard]] StreamWork certified_work(const Topology& topology, const RunPoint& point,
                                        const JobRanks& ranks, const HostCollective& what);
// How many of `nodes` are in each server, if these are as many in each and one server comes after
// the other; otherwise 0.
[[nodiscard]] std::uint32_t nodes_per_server(const TopologyConfig& topology,
                                             const std::vector<NodeId>& nodes);

// The plan of the point's planner, with its start_order where the point enforces one.
// Preconditions: the point's algorithm is a planner, topology.dimensions().
[[nodiscard]] ForecastPlan plan_point(const Topology& topology, const RunPoint& point,
                                      const Choices& choices = Choices());

// The work of the point's collective, and its planned time alone on the healthy system.
struct PlannedWork {
  CollectiveWork work;
  double ns = 0;  // of a program of several passes over its data, the time of the busiest link
  double least_ns = 0;  // no machine is faster
};
// Nothing for `algorithm: auto`, whose candidates have times, and for runs of several collectives.
[[nodiscard]] std::optional<PlannedWork> planned_work(const Topology& topology,
                                                      const RunPoint& point);
// Each message of the schedule passes one link.
[[nodiscard]] bool passes_one_link(const Schedule& schedule);
// Certifying a program takes as many comparisons of clocks as it has steps times contexts
// (alg/program/certify_program_races.cpp). True if there are more than 2^31, which take longer than
// everything else that auto and `compare` do.
[[nodiscard]] bool is_proven_slowly(const Program& program);

// Stores the tables as the NIs' memories do: in rows that repeat, if `ni.table_repeat` is set.
void store_rows(ScheduleTables& tables, const NiConfig& ni);

// The request to schedule generators for a collective, and the network of the nodes that take part.
struct GroupRequest {
  GroupRequest(const Topology& topology, const SystemConfig& system,
               const CollectiveConfig& collective);
  GroupRequest(const GroupRequest&) = delete;  // `group` refers to `nodes`
  GroupRequest& operator=(const GroupRequest&) = delete;

  [[nodiscard]] Schedule generate(const std::string& algorithm) const {
    return espalier::generate(*find_generator(algorithm), group.network(), request);
  }
  [[nodiscard]] ScheduleTables tables_of(Schedule schedule) const;

  std::vector<NodeId> nodes;
  ProcessGroup group;
  CollectiveRequest request;
  const NiConfig& ni;
};

}  // namespace espalier
