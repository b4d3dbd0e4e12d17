// Plans and collective programs as text, for `check` and `schedule`.
#pragma once

#include <string>

#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "hw/topology/topology.h"
#include "sims/choose/choose.h"

namespace espalier {

struct RunPoint;

// One line of totals, then one line for each dimension: its shape, the bytes that each NPU sends
// (N_K), and the load that the planner predicted.
[[nodiscard]] std::string plan_summary(const Topology& topology, const ForecastPlan& planned);
// One line for each chunk with its way through the dimensions, then the order of starts in each
// dimension.
[[nodiscard]] std::string plan_table(const Topology& topology, const RunPoint& point,
                                     const ForecastPlan& planned);

// One line for each rank, block and step.
[[nodiscard]] std::string program_text(const Program& program);
// The numbers of the certificate, then one line for each violation.
[[nodiscard]] std::string certificate_text(const Program& program,
                                           const ProgramCertificate& certificate);

}  // namespace espalier
