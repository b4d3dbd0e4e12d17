// Participants of a collective that is not symmetric: a process group, a root, or sizes per pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "hw/ids.h"

namespace espalier {

struct Scope {
  // broadcast: the node that has the data at the start; reduce: the node that has the sum at the
  // end. Other operations have none.
  NodeId root;
  // all_to_allv: the bytes that each node sends to each node, [from * nodes + to]. Otherwise empty.
  std::vector<Bytes> counts;
  // The nodes that take part, ascending; empty: all. The others have no data of the collective; if
  // they pass data on, their memory holds zeros at the start.
  std::vector<NodeId> members;

  [[nodiscard]] bool has(NodeId node) const {
    return members.empty() || std::binary_search(members.begin(), members.end(), node);
  }
  // Precondition: the network has `nodes` nodes.
  [[nodiscard]] std::size_t num_members(std::size_t nodes) const {
    return members.empty() ? nodes : members.size();
  }
  [[nodiscard]] Bytes all_counts() const {
    return std::accumulate(counts.begin(), counts.end(), Bytes{0});
  }
  friend bool operator==(const Scope& a, const Scope& b) {
    return a.root == b.root && a.counts == b.counts && a.members == b.members;
  }
};

}  // namespace espalier
