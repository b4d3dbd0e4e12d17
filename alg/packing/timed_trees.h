// Out-trees of small pieces of data that grow in time, message by message, together with the times
// at which the messages start.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/packing/tree_packing.h"
#include "alg/schedule/message_timing.h"

namespace espalier {

struct TimedTree {
  PackedTree tree;
  std::vector<std::uint64_t> start_ps;  // by edge of the tree: of its message
};

// Which neighbour gets a piece for which nodes behind it wait: any free neighbour (`busy`), or the
// neighbour with the fewest such pieces, even if the link has to wait for it (`balanced`).
enum class TimedOrder : std::uint8_t { busy, balanced };

// `pieces` trees of every root, root by root, for a piece of `bytes` each. Trees that are packed
// for their rate fill and empty the links slowly, which small and medium data pay for. Here no tree
// is fixed beforehand: whenever a link out of a node is free, the node sends a piece to a node that
// lacks it. Priority: the piece with the longest remaining way, then the rarest piece. A node takes
// a piece from one of the nodes nearest to it. Every message finds all links of its path free.
// `reversed`: reduces over a reversed graph, mirrored in time. Empty if some piece does not reach
// every node. Preconditions: the graph has no switches; no link of rate 0.
[[nodiscard]] std::vector<TimedTree> timed_out_trees(const Topology& topology,
                                                     const PackGraph& graph, std::uint32_t pieces,
                                                     Bytes bytes, const MessageTiming& timing,
                                                     TimedOrder order, bool reversed);

}  // namespace espalier
