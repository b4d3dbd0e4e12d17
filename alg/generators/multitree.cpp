// MULTITREE: the trees of Algorithm 1 as a schedule.
#include "alg/generators/generator.h"
#include "alg/generators/tree_forest.h"
#include "alg/generators/tree_schedule.h"

namespace espalier {

std::string unsuited_for_multitree(const Topology& topology) {
  return unsuited_for_mirrored_trees(topology, "multitree");
}

Schedule generate_multitree(const Topology& topology, const CollectiveRequest& request) {
  return schedule_trees(topology, request, build_trees(topology, request), "multitree");
}

}  // namespace espalier
