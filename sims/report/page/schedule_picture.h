// Pictures of a schedule: the tree of a flow on its network, and when links are in use.
#pragma once

#include <string>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"
#include "sims/report/page/rebuild.h"
#include "sims/report/plot/svg.h"

namespace espalier::report {

// One phase of a flow: the timestep in which each node sends (reduces) or has its data.
[[nodiscard]] Svg draw_flow(const Topology& topology, const Schedule& schedule,
                            const std::vector<TreeEdge>& edges, bool reduces, FlowId flow);

// Both as files of their own. Preconditions: transfers, no symmetry, no multi-dimensional system.

// The last phase of the first flow. The messages of planned schedules are all in one timestep, so
// nodes are numbered in the order in which the flow reaches them.
[[nodiscard]] std::string tree_picture(const Topology& topology, const Schedule& schedule,
                                       const MessageTiming& timing);
// One row for each link, one bar for each message at its planned time
// (alg/packing/schedule_time.h); of long schedules, the beginning. A colour is a tree: flows over
// the same links. Messages that reduce are pale.
[[nodiscard]] std::string slots_picture(const Topology& topology, const Schedule& schedule,
                                        const MessageTiming& timing);

// Empty, or why slots_picture() has no room for the network.
[[nodiscard]] std::string too_much_for_slots(const Topology& topology);

}  // namespace espalier::report
