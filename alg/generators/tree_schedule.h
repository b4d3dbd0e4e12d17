// Schedules that follow trees: the all-gather from the roots down, the reduce-scatter as its mirror
// in time (MultiTree, section III-C1), the all-to-all as an all-gather that sends each subtree only
// what is for it (section VII-B).
#pragma once

#include <string>

#include "alg/generators/generator.h"
#include "alg/generators/tree_forest.h"

namespace espalier {

// Empty where every link has one back, else a sentence that says which has not: what the mirror of
// an all-gather needs.
[[nodiscard]] std::string unsuited_for_mirrored_trees(const Topology& topology,
                                                      const std::string& algorithm);

// Flow and chunk i belong to the tree whose root is the node of rank i. all_to_all: N chunks for
// every root, in the order in which the tree reaches their destinations depth first, so that what a
// subtree needs is one run of chunks. Precondition: unsuited_for_mirrored_trees is empty.
[[nodiscard]] Schedule schedule_trees(const Topology& topology, const CollectiveRequest& request,
                                      TreeForest forest, const std::string& algorithm);

}  // namespace espalier
