// What a run worked on, whatever the design: only runs of one workload can be compared.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/report_data.h"

namespace espalier::report {

// A configuration's key, by its dotted name, that says what is done and under which conditions:
// operation and size, messages and their seed, network, iterations, control messages, stalls. Not
// how: algorithm, VCs.
[[nodiscard]] bool is_workload_key(const std::string& key);

// Of every point, the same text where times can be compared: operation, size, nodes, network or
// traffic, as a reader would say it, and what else tells workloads of these words apart.
[[nodiscard]] std::vector<std::string> workloads_of(const std::vector<ReportPoint>& points);

}  // namespace espalier::report
