// The time that a schedule takes, message by message and without the flit model.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"

namespace espalier {

// Empty if every link has a bandwidth; otherwise why `algorithm` cannot plan times, for the user.
[[nodiscard]] std::string unsuited_for_times(const Topology& topology, const char* algorithm);

// From the first issue to the last arrival, in ps, if every NI serves its messages in the order of
// its table, each as soon as its dependencies have arrived and its port's queue has room, and every
// link is first come first served, for whole messages. Where every message passes one link this is
// what the machine does without lockstep, but for ties and for messages in several VCs, whose
// packets interleave. Longer routes are cut through; routers have room for all. Where the time is
// over `limit`, the answer is some time over `limit` that the schedule does not beat.
[[nodiscard]] std::uint64_t schedule_time_ps(
    const Topology& topology, const Schedule& schedule, const MessageTiming& timing,
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

// A message on a link of its route, as in schedule_time_ps().
struct LinkUse {
  LinkId link;
  TransferId transfer;
  std::uint64_t start_ps = 0;
  std::uint64_t end_ps = 0;  // when the link is free for the next message
};
// In the order in which links take them. Precondition: no symmetry.
[[nodiscard]] std::vector<LinkUse> planned_link_uses(const Topology& topology,
                                                     const Schedule& schedule,
                                                     const MessageTiming& timing);

}  // namespace espalier
