// Paths for the pieces of an all_to_all, over other nodes and switches, such that the busiest link
// has as little to carry as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule/message_timing.h"
#include "alg/schedule/work_budget.h"
#include "hw/topology/topology.h"

namespace espalier {

// The path of one piece, in travel order.
using LinkPath = std::vector<LinkId>;

// Paths, indexed by (from * N + to) * pieces + piece; pieces of one pair have the same size. Empty
// where from == to. On a grid whose dimensions have one rate each they are optimal, elsewhere
// searched (README.md) until the budget is spent. Through switches, links follow each other as
// LinkOrder admits, and messages occupy them by `rule`. Preconditions: connected; every link has a
// bandwidth.
[[nodiscard]] std::vector<LinkPath> balanced_paths(const Topology& topology, std::uint32_t pieces,
                                                   RateRule rule = RateRule::slowest,
                                                   const WorkBudget& budget = WorkBudget());

// The same by search for pairs of different sizes, [from * N + to], in any unit: pieces of a pair
// have the same size. Paths of pairs of size 0 are empty. Precondition: the sum of all sizes is
// below 2^48.
[[nodiscard]] std::vector<LinkPath> balanced_paths(const Topology& topology, std::uint32_t pieces,
                                                   const std::vector<std::uint32_t>& sizes,
                                                   RateRule rule = RateRule::slowest,
                                                   const WorkBudget& budget = WorkBudget());

}  // namespace espalier
