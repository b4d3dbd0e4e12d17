// Pictures of a schedule as SVG files: its trees on the network, and when links are in
// use. Preconditions: transfers, no symmetry, no multi-dimensional system.
#pragma once

#include <string>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier::report {

// The first twelve trees of the schedule to begin, side by side in the order of time, with the
// timestep or planned time at which each node sends (reduces) or has its data.
[[nodiscard]] std::string tree_picture(const Topology& topology, const Schedule& schedule,
                                       const MessageTiming& timing);
// One row for each link, one bar for each message at its planned time
// (alg/time/schedule_time.h); of long schedules, the beginning. A colour is a tree: flows over
// the same links. Messages that reduce are pale.
[[nodiscard]] std::string slots_picture(const Topology& topology, const Schedule& schedule,
                                        const MessageTiming& timing);

// Empty, or why slots_picture() has no room for the network.
[[nodiscard]] std::string too_much_for_slots(const Topology& topology);

}  // namespace espalier::report
