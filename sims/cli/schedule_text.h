// Plans and collective programs as text, for `check` and `schedule`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "alg/program/program.h"
#include "alg/program/program_certifier.h"
#include "hw/topology/topology.h"
#include "sims/experiment/plan_run.h"
#include "sims/point/config.h"

namespace espalier {

// A line of totals, and a line for each dimension: its shape, the bytes that each NPU sends (N_K),
// and the load that the planner predicted.
[[nodiscard]] std::string plan_summary(const Topology& topology, const ForecastPlan& planned);
// A line for each chunk with its way through the dimensions, then each dimension's starts.
[[nodiscard]] std::string plan_table(const Topology& topology, const RunPoint& point,
                                     const ForecastPlan& planned);
[[nodiscard]] nlohmann::ordered_json plan_json(const Topology& topology,
                                               const ForecastPlan& planned);

// Every rank, block and step, a line each.
[[nodiscard]] std::string program_text(const Program& program);
// The numbers of the certificate, then a line for each violation.
[[nodiscard]] std::string certificate_text(const Program& program,
                                           const ProgramCertificate& certificate);

}  // namespace espalier
