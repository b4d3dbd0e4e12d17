// The time that an algorithm is planned to take, before anything is simulated.
#pragma once

#include <optional>

#include "hw/topology/topology.h"

namespace espalier {

struct Program;
struct RunPoint;

struct PlannedTime {
  double ns = 0;
  bool is_proven_slowly = false;  // see below
};

// Certifying a program takes as many comparisons of clocks as it has steps times contexts
// (alg/program/certify_program_races.cpp). True if there are more than 2^31, which take longer than
// everything else that auto and `compare` do.
[[nodiscard]] bool is_proven_slowly(const Program& program);

// Of the point's collective, alone on the healthy system. Of a program of several passes over its
// data, the time of the busiest link. Nothing for `algorithm: auto`, whose candidates have times,
// and for runs of several collectives.
[[nodiscard]] std::optional<PlannedTime> planned_time(const Topology& topology,
                                                      const RunPoint& point);

}  // namespace espalier
