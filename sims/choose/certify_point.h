// Whether a point's system can run the schedule or program of its collective.
#pragma once

#include <string>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/plans/dimension_plan.h"
#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"

namespace espalier {

struct RunPoint;

// The certificate of tables on the point's network: beside its control messages and its tenants,
// with the entries of its NIs.
[[nodiscard]] Certificate certify_point(const Topology& topology, const RunPoint& point,
                                        const ScheduleTables& tables);

// A cycle of waiting among control messages, in words; an empty text if there is none. Control
// messages may take every route of their pattern. `tables`: also beside the messages of these
// tables, where both share VCs. Precondition: point.control.
[[nodiscard]] std::string control_deadlock(const Topology& topology, const RunPoint& point,
                                           const ScheduleTables* tables = nullptr);

// The certificate of a program for the point's slots, contexts and chunk sizes, and for the paths
// that its messages take through the network. `form_only`: ProgramLimits.
[[nodiscard]] ProgramCertificate certify_program_point(const Topology& topology,
                                                       const RunPoint& point,
                                                       const Program& program,
                                                       bool form_only = false);

[[nodiscard]] std::vector<Violation> certify_plan(const RunPoint& point, const DimensionPlan& plan);

// The reason for the result of a run that the certifier refuses; an empty text without violations.
[[nodiscard]] std::string refusal(const std::vector<Violation>& violations);

}  // namespace espalier
