// What a schedule does in each timestep, for pictures.
#pragma once

#include <vector>

#include "alg/schedule/schedule.h"

namespace espalier::report {

// A message of one flow.
struct TreeEdge {
  NodeId from;
  NodeId to;
  RouteId route;
  Timestep step = 1;
};

struct FlowTree {
  FlowId flow;
  std::vector<TreeEdge> reduces;  // in the order of their steps
  std::vector<TreeEdge> copies;
};

// Of the schedule's first flow. Precondition: the schedule has transfers.
[[nodiscard]] FlowTree first_flow(const Schedule& schedule);

// By timestep (from 0) and vertex: the part of the links that leave it which carry something.
struct Occupancy {
  std::vector<std::vector<double>> of_vertex;
  std::vector<double> of_all;  // by timestep: of all links
};
[[nodiscard]] Occupancy occupancy(const Topology& topology, const Schedule& schedule);

}  // namespace espalier::report
