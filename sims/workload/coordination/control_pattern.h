// Who sends to whom in a collective operation of the control plane: MPI's small-message algorithms,
// and trees of coordinators. Rank 0 is the root.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct PatternMessage {
  RankId from;
  RankId to;
};

// Rounds one after the other. In a round a rank first sends all that it has to send, in the order
// of the list, then receives in the order of the list.
struct ControlPattern {
  std::vector<std::vector<PatternMessage>> rounds;
};

// Binomial trees: ceil(log2 N) rounds.
[[nodiscard]] ControlPattern binomial_gather(std::size_t ranks);
[[nodiscard]] ControlPattern binomial_broadcast(std::size_t ranks);
// Recursive doubling. What is beyond a power of two hands its part to a neighbour first and has the
// result from it at last.
[[nodiscard]] ControlPattern recursive_doubling(std::size_t ranks);
// Rank r's children are arity r + 1 to arity r + arity.
[[nodiscard]] ControlPattern tree_gather(std::size_t ranks, std::uint32_t arity);
[[nodiscard]] ControlPattern tree_broadcast(std::size_t ranks, std::uint32_t arity);
[[nodiscard]] std::uint32_t tree_children(std::size_t ranks, std::uint32_t arity, RankId rank);

// What one rank does in a pattern, in order.
struct PatternStep {
  RankId peer;
  bool sends = false;  // else it receives
};
[[nodiscard]] std::vector<std::vector<PatternStep>> steps_by_rank(const ControlPattern& pattern,
                                                                  std::size_t ranks);

}  // namespace espalier
