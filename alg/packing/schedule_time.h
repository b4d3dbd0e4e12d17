// The time that a schedule takes, message by message and without the flit model.
#pragma once

#include <cstdint>
#include <string>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"

namespace espalier {

// Empty if every link has a bandwidth; otherwise why `algorithm` cannot plan times, for the user.
[[nodiscard]] std::string unsuited_for_times(const Topology& topology, const char* algorithm);

// From the first issue to the last arrival, in ps, if every NI serves its messages in the order of
// steps (and within a step in the order of the schedule), each as soon as its dependencies have
// arrived and its port's queue has room; and every link is first come first served, for whole
// messages. On links between nodes this is what the machine does without lockstep, to a few cycles.
// Where several nodes share a link it is an estimate: their packets interleave.
[[nodiscard]] std::uint64_t schedule_time_ps(const Topology& topology, const Schedule& schedule,
                                             const MessageTiming& timing);

}  // namespace espalier
