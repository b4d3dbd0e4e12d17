// Where `espalier reorder` has its latencies from: probes through the simulated network, or a file
// of what was measured elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sims/cli/input.h"

namespace espalier {

// By from * nodes + to; in cycles. Throws std::invalid_argument where the network cannot be probed,
// std::runtime_error where a probe does not come back.
[[nodiscard]] std::vector<std::uint64_t> probed_latencies(
    const Topology& topology, const RunPoint& point, const std::function<void(double)>& progress);

// In the file's unit. nullopt where the file is wrong: stderr says how.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> measured_latencies(const std::string& path,
                                                                           std::size_t nodes);

}  // namespace espalier
