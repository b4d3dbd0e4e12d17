// Files about ranks: a mapping file says which node each rank of a collective is, a latency file
// holds the measurements from which an order is found, a table of weights says how much each rank
// sends to each other in an all_to_allv, or owns of an all_gatherv or reduce_scatterv.
//
//   rank_order: [3, 0, 2, 1]   # rank 0 is node 3; every node occurs once
//   metadata: {model: ring}    # free; the writer of the file says how it was found
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "hw/topology/topology.h"
#include "sims/point/collective_config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Parses the text of a mapping file, YAML or JSON: the node of each rank. `file_name` is for
// diagnostics.
[[nodiscard]] std::optional<std::vector<NodeId>> parse_rank_order(const std::string& file_name,
                                                                  const std::string& text,
                                                                  const Topology& topology,
                                                                  Diagnostics& diagnostics);

// Loads the rank order of the configuration, which names it at `place`: the node of each rank.
// Returns an empty vector for the identity, and nullopt if the file has errors.
[[nodiscard]] std::optional<std::vector<NodeId>> load_rank_order(const RankOrderConfig& config,
                                                                 const Topology& topology,
                                                                 const Place& place,
                                                                 Diagnostics& diagnostics);

// Parses a table of comma-separated values with measured latencies. A line for each node holds the
// latency to each node, in whole numbers of any unit. The diagonal, blank lines and blanks around a
// value are ignored. '#' starts a comment. The result is indexed by from * nodes + to. `file_name`
// is for diagnostics.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_latencies(
    const std::string& file_name, const std::string& text, std::size_t nodes,
    Diagnostics& diagnostics);

// Parses a table of weights in the same form: what the rank of a line sends to each rank, up to
// 1 000 000; or one line of what each rank owns. Result and arguments as above.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> parse_weights(const std::string& file_name,
                                                                      const std::string& text,
                                                                      std::size_t ranks,
                                                                      std::size_t lines,
                                                                      Diagnostics& diagnostics);

// Loads the weights of the configuration, which names them at `place`. zipf: the rank r gets a
// share in proportion to 1 / (r + 1), as experts of different popularity do (Zipf's law). Returns
// nullopt if the file has errors, or all weights are 0. `lines`: as many as ranks, or 1.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> load_weights(const CountsConfig& config,
                                                                     std::size_t ranks,
                                                                     std::size_t lines,
                                                                     const Place& place,
                                                                     Diagnostics& diagnostics);

}  // namespace espalier
