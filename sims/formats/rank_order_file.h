// Files for rank orders: a mapping file says which node each rank of a collective is, a latency
// file holds the measurements from which an order is found.
//
//   rank_order: [3, 0, 2, 1]   # rank 0 is node 3; every node occurs once
//   metadata: {model: ring}    # free; the writer of the file says how it was found
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "sims/point/config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// The nodes by rank of a file's text, YAML or JSON. `file_name` is for diagnostics.
[[nodiscard]] std::optional<std::vector<NodeId>> parse_rank_order(const std::string& file_name,
                                                                  const std::string& text,
                                                                  std::size_t nodes,
                                                                  Diagnostics& diagnostics);

// The nodes by rank of the configuration's order, which it names at `place`. Empty: the identity;
// nullopt: its file is wrong.
[[nodiscard]] std::optional<std::vector<NodeId>> load_rank_order(const RankOrderConfig& config,
                                                                 std::size_t nodes,
                                                                 const Place& place,
                                                                 Diagnostics& diagnostics);

// A matrix of measured latencies in a table of comma-separated values. A line for each node holds
// the latency to each node, in whole numbers of any unit. The diagonal is ignored, and so are blank
// lines and blanks around a value. '#' starts a comment. The result is by from * nodes + to;
// `file_name` is for diagnostics.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_latencies(
    const std::string& file_name, const std::string& text, std::size_t nodes,
    Diagnostics& diagnostics);

}  // namespace espalier
