// What `espalier reorder` writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sims/experiment/order_study.h"
#include "sims/point/config.h"

namespace espalier {

// For people. `unit`: of the costs.
[[nodiscard]] std::string study_table(const OrderStudy& study, const std::string& unit,
                                      double seconds);

// By from * nodes + to, as parse_latencies reads it (sims/formats/latency_file.h).
[[nodiscard]] std::string latency_table(const std::vector<std::uint64_t>& latencies,
                                        std::size_t nodes);

// For machines; all but `host` is reproducible. `latencies`: "probes", or the file they are from.
[[nodiscard]] nlohmann::ordered_json study_json(const OrderStudy& study, const RunPoint& point,
                                                const std::string& topology,
                                                const std::string& latencies, double seconds);

// The order that the study was asked for, as a file for collective.rank_order.
[[nodiscard]] std::string mapping_file(const OrderStudy& study, const ReorderConfig& config,
                                       const std::string& topology);

}  // namespace espalier
