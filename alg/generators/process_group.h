// A collective among some of a network's nodes. The others' routers pass packets on, as all routers
// do; their NIs send and receive nothing.
#pragma once

#include <vector>

#include "alg/generators/generator.h"
#include "hw/topology/topology.h"

namespace espalier {

// The network as the group sees it: rank r of the group is node r, and every other vertex is a
// switch. Every algorithm can plan on it. Links keep their ids, so that routes need no translation.
class ProcessGroup {
 public:
  // `nodes`: the node of each rank; empty: all nodes, rank r is node r. Both must outlive this
  // object. Precondition: at least two nodes, none twice.
  ProcessGroup(const Topology& whole, const std::vector<NodeId>& nodes);

  [[nodiscard]] const Topology& network() const { return nodes_.empty() ? whole_ : group_; }
  // A schedule on network() in terms of the whole network.
  [[nodiscard]] Schedule in_whole(Schedule schedule) const;
  [[nodiscard]] Scope in_whole(const Scope& scope) const;

 private:
  [[nodiscard]] NodeId whole_node(NodeId rank) const { return nodes_[rank.index()]; }

  const Topology& whole_;
  const std::vector<NodeId>& nodes_;
  Topology group_;
};

}  // namespace espalier
