// Hops between vertices that store messages: a link, or a path through switches.
#pragma once

#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

struct StoredHop {
  NodeId from;
  NodeId to;
  std::vector<LinkId> there;
  std::vector<LinkId> back;  // the links back; empty if hops are one-way
};

// The shortest paths between any two vertices for which `stores` holds, through vertices that do
// not store, at most eight of a pair. `two_way`: each once, with its way back; hops that have none
// are left out.
[[nodiscard]] std::vector<StoredHop> stored_hops(const Topology& topology,
                                                 const std::vector<bool>& stores, bool two_way);

}  // namespace espalier
