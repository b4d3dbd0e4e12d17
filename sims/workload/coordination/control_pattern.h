// Senders and receivers in a collective operation of the control plane: MPI's algorithms for small
// messages, and trees of coordinators. Rank 0 is the root.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct PatternMessage {
  RankId from;
  RankId to;
};

// Rounds follow one another. In a round a rank first sends all its messages, then receives all,
// both in the order of the list.
struct ControlPattern {
  std::vector<std::vector<PatternMessage>> rounds;
};

// Binomial trees: ceil(log2 N) rounds.
[[nodiscard]] ControlPattern binomial_gather(std::size_t ranks);
[[nodiscard]] ControlPattern binomial_broadcast(std::size_t ranks);
// Recursive doubling. Ranks beyond a power of two send their part to a neighbour before the first
// round and receive the result from the neighbour after the last round.
[[nodiscard]] ControlPattern recursive_doubling(std::size_t ranks);
// Rank r has the children arity * r + 1 to arity * r + arity.
[[nodiscard]] ControlPattern tree_gather(std::size_t ranks, std::uint32_t arity);
[[nodiscard]] ControlPattern tree_broadcast(std::size_t ranks, std::uint32_t arity);
[[nodiscard]] std::uint32_t tree_children(std::size_t ranks, std::uint32_t arity, RankId rank);

// The sends and receives of one rank in a pattern, in order.
struct PatternStep {
  RankId peer;
  bool sends = false;  // false: it receives
};
[[nodiscard]] std::vector<std::vector<PatternStep>> steps_by_rank(const ControlPattern& pattern,
                                                                  std::size_t ranks);

}  // namespace espalier
