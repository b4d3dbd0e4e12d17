// A mapping file: which node each rank of a collective is.
//
//   rank_order: [3, 0, 2, 1]   # rank 0 is node 3; every node once
//   metadata: {model: ring}    # anything; what wrote the file says how
#pragma once

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

// The nodes by rank that the configuration asks for; empty for the identity, nullopt where its file
// is wrong. `place` is where the configuration names it.
[[nodiscard]] std::optional<std::vector<NodeId>> load_rank_order(const RankOrderConfig& config,
                                                                 std::size_t nodes,
                                                                 const Place& place,
                                                                 Diagnostics& diagnostics);

}  // namespace espalier
