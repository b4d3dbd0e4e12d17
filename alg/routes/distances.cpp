#include "alg/routes/distances.h"

namespace espalier {

std::vector<std::size_t> distances_from(const Topology& topology, NodeId from) {
  std::vector<std::size_t> distance(topology.num_vertices(), kUnreached);
  std::vector<NodeId> queue{from};
  distance[from.index()] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId v = queue[head];
    for (const LinkId link : topology.out_links(v)) {
      const NodeId to = topology.link(link).to;
      if (distance[to.index()] != kUnreached) continue;
      distance[to.index()] = distance[v.index()] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

}  // namespace espalier
