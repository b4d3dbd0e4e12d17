// Builds the system and the schedule of a result again from the resolved configuration, because
// results contain neither.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"
#include "sims/page/report_data.h"
#include "sims/point/config.h"

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
  double number = 1;  // its timestep; in a planned tree the time in us
};

// A phase of a flow as a picture numbers it. The messages of planned schedules are all in one
// timestep, so `planned` trees show when the last link has carried each message.
struct NumberedTree {
  FlowId flow;
  bool reduces = false;
  bool planned = false;
  std::size_t flows = 1;        // that take the same links
  std::vector<TreeEdge> edges;  // ascending in `number`
};
// Of flows over the same links the first to begin, each phase a tree, in the order of their first
// messages.
[[nodiscard]] std::vector<NumberedTree> numbered_trees(const Topology& topology,
                                                       const Schedule& schedule,
                                                       const MessageTiming& timing);
// By flow, a number for the links that it takes. Flows of one tree have one number.
[[nodiscard]] std::map<FlowId, std::size_t> trees_of(const Schedule& schedule);

// The share of the links of each vertex that are in use, by timestep. For a planned schedule: the
// share of time for which they are planned, by parts of the planned time.
struct Occupancy {
  bool planned = false;
  double end_us = 0;                           // if planned
  std::vector<std::vector<double>> of_vertex;  // by timestep or part
  std::vector<double> of_all;
};
[[nodiscard]] Occupancy occupancy(const Topology& topology, const Schedule& schedule,
                                  const MessageTiming& timing);

}  // namespace espalier::report
