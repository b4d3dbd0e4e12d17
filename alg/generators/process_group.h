// A collective among some of a network's nodes. The others' routers pass packets on, as all routers
// do. Their NIs do nothing, or, as relays, store messages and send them on.
#pragma once

#include <string>
#include <vector>

#include "alg/generators/generator.h"
#include "hw/topology/topology.h"

namespace espalier {

// The network as the group sees it: rank r of the group is node r, and every other vertex is a
// switch. Every algorithm can plan on it. Links keep their ids, so that routes need no translation.
class ProcessGroup {
 public:
  // `nodes`: the node of each rank; empty: all nodes, rank r is node r. Both must outlive this
  // object. Messages have the routes that they have in the whole network. Without routes of its
  // own, the group's network has up*/down* routes from rank 0, unless `ring_as_listed`, which also
  // says that rings pass the ranks in the order of the list. Precondition: at least two nodes, none
  // twice.
  ProcessGroup(const Topology& whole, const std::vector<NodeId>& nodes,
               bool ring_as_listed = false);

  [[nodiscard]] const Topology& network() const { return nodes_.empty() ? whole_ : group_; }
  // For CollectiveRequest::relays: the vertices of network() that are nodes outside of the group.
  [[nodiscard]] std::vector<bool> relays() const;
  // A schedule on network() in terms of the whole network.
  [[nodiscard]] Schedule in_whole(Schedule schedule) const;
  [[nodiscard]] Scope in_whole(const Scope& scope) const;

 private:
  [[nodiscard]] NodeId whole_node(NodeId vertex) const { return whole_vertex_[vertex.index()]; }

  const Topology& whole_;
  const std::vector<NodeId>& nodes_;
  std::vector<NodeId> whole_vertex_;  // by vertex of group_
  Topology group_;
};

// Empty if the generator computes the request's collective, among several groups as well; otherwise
// the reason, as a sentence for the user.
[[nodiscard]] std::string unsuited_for(const Generator& generator, const Topology& topology,
                                       const CollectiveRequest& request);
// The generator's schedule. Several groups that it does not plan together have plans made alone,
// which run at the same time: a table lists messages by their planned starts. Throws
// std::invalid_argument if the request cannot be met.
[[nodiscard]] Schedule generate(const Generator& generator, const Topology& topology,
                                const CollectiveRequest& request);

}  // namespace espalier
