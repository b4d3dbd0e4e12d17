// Builds the system and the schedule of a result again from the resolved configuration, because
// results contain neither.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/report/page/report_data.h"

namespace espalier::report {

struct RebuiltSystem {
  RunPoint point;
  std::shared_ptr<const Topology> topology;
};

// Returns nothing if the configuration is incomplete or cannot be read; `why` then has the reason,
// as a clause that follows a colon.
[[nodiscard]] std::optional<RebuiltSystem> rebuild_system(const ReportData& data,
                                                          const ReportPoint& point,
                                                          std::string& why);

// The schedule of all nodes. Returns nothing if the point has no schedule; `why` then has the
// reason. Precondition: the point has a collective.
[[nodiscard]] std::optional<Schedule> rebuild_schedule(const RebuiltSystem& system,
                                                       std::string& why);

// A message of one flow.
struct TreeEdge {
  NodeId from;
  NodeId to;
  RouteId route;
  Timestep step = 1;
};

struct FlowTree {
  FlowId flow;
  std::vector<TreeEdge> reduces;  // in the order of timesteps
  std::vector<TreeEdge> copies;
};

// The tree of the schedule's first flow. Precondition: the schedule has transfers.
[[nodiscard]] FlowTree first_flow(const Schedule& schedule);

// For each timestep (counted from 0), how many links are in use.
struct Occupancy {
  std::vector<std::vector<double>> of_vertex;
  std::vector<double> of_all;  // share of all links, by timestep
};
[[nodiscard]] Occupancy occupancy(const Topology& topology, const Schedule& schedule);

}  // namespace espalier::report
