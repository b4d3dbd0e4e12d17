// AUTO: the algorithm whose schedule is planned to be the fastest.
#pragma once

#include <string>
#include <vector>

#include "alg/generators/generator.h"

namespace espalier {

struct RankedSchedule {
  std::string name;  // of the algorithm, with the number of segments if that was chosen here
  // Calling the generator with this number of segments makes the schedule again.
  const Generator* generator;
  std::uint32_t segments;
  std::uint64_t planned_ps;  // alg/time/schedule_time.h
  Schedule schedule;
};

// Whether auto may take the generator's schedule in request.segments.
[[nodiscard]] bool is_auto_candidate(const Generator& generator, const Topology& topology,
                                     const CollectiveRequest& request);

// The schedules of the fastest `most` generators (auto itself left out) that compute the operation
// on this network, fastest first. Equal times are in the order of the registry. Throws
// std::invalid_argument if there are none.
[[nodiscard]] std::vector<RankedSchedule> fastest_schedules(const Topology& topology,
                                                            const CollectiveRequest& request,
                                                            std::size_t most);

// Plans of an exchange through switches of unequal rates say little where slow outputs hold
// crossbar inputs, also of algorithms that choose their number of segments by them.
[[nodiscard]] bool is_planned_badly(const Topology& topology, const CollectiveRequest& request,
                                    const Generator& generator);

// The generator's schedules in other numbers of segments, if they are planned to take at most 10 %
// longer, or twice as long where is_planned_badly().
[[nodiscard]] std::vector<RankedSchedule> in_other_segments(const Topology& topology,
                                                            const CollectiveRequest& request,
                                                            const RankedSchedule& taken);

}  // namespace espalier
