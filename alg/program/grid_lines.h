// Collective programs on tori and meshes: the lines of a grid, and how the data are shared among
// its dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/generators/rings.h"
#include "alg/program/builtin_programs.h"
#include "hw/topology/topology.h"

namespace espalier {

// The ranks of every line along dimension `dim`, each in the order of its coordinate.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> lines_along(const GridShape& grid,
                                                                  std::size_t dim);

// The order in which part `part` of the data visits the long dimensions. There are as many parts as
// such dimensions, and in each position of the order all parts are in different dimensions, so that
// they use different links.
[[nodiscard]] std::vector<std::size_t> dimensions_of_part(const GridShape& grid, std::size_t part);

// A line in the order in which a part runs along it. Odd parts run backwards: where a step is
// longer in one direction than in the other, parts load both directions alike.
[[nodiscard]] std::vector<std::uint32_t> turned(std::vector<std::uint32_t> line, std::size_t part);

// A chain of messages from node to node, each of which carries the size / `parts`.
struct Chain {
  std::size_t parts = 1;
  std::size_t stops = 1;      // messages one after the other
  std::uint64_t stop_ps = 0;  // at a stop, in addition to the time of a link and of the data
  // How often a message with all data of a part follows the segments on a link. It is missed when
  // the latency of a link has passed.
  std::size_t followed = 0;
  std::uint32_t most_segments =
      8;  // that are chosen; more of them need more contexts than they gain
};
struct ChainCost {
  std::uint32_t segments = 1;
  std::uint64_t ps = 0;  // without the latency of the links
};
// Cuts the messages into the segments of the request, or into the number that takes the least time.
// Segments follow each other: a node passes one on while the next one arrives. But every segment
// has a head.
[[nodiscard]] ChainCost cheapest_chain(const BuiltinRequest& request, const Chain& chain);

// All ranks of a line, one after the other along a dimension without rings, replace their `count`
// chunks from `index` on by the sum. 2 * `count` chunks from `scratch` on are used.
struct LineData {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  std::uint32_t channel = 0;
  std::uint32_t scratch = 0;
};
void write_line_sum(ChunkTracer& tracer, const std::vector<std::uint32_t>& line,
                    const LineData& data);

// Why the request does not suit programs for grids with rings in some dimension, for tori, for
// meshes; empty if it does.
[[nodiscard]] std::string unsuited_rings(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_torus(const BuiltinRequest& request);
[[nodiscard]] std::string unsuited_mesh(const BuiltinRequest& request);

}  // namespace espalier
