// Participants of a collective that is not symmetric: process groups, a root, or sizes per pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// Ranks that run the collective with each other, on data of their own.
struct RankGroup {
  std::vector<NodeId> members;
  Bytes size = 0;  // as Schedule::size, if there are several groups

  friend bool operator==(const RankGroup& a, const RankGroup& b) {
    return a.members == b.members && a.size == b.size;
  }
};

struct Scope {
  // broadcast: the node that has the data at the start; reduce: the node that has the sum at the
  // end. Other operations have none.
  NodeId root;
  // all_to_allv: the bytes that each node sends to each node, [from * nodes + to]. all_gatherv,
  // reduce_scatterv: the bytes of each node's part, by node. Otherwise empty.
  std::vector<Bytes> counts;
  // Groups that run at the same time, each with its members ascending; empty: one of all nodes. A
  // node has no data of groups that it is no member of. If it passes their data on, its memory
  // holds zeros for them at the start.
  std::vector<RankGroup> groups;

  [[nodiscard]] bool has(NodeId node, std::size_t group) const {
    if (groups.empty()) return true;
    const std::vector<NodeId>& members = groups[group].members;
    return std::binary_search(members.begin(), members.end(), node);
  }
  [[nodiscard]] bool has(NodeId node) const {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (has(node, g)) return true;
    }
    return groups.empty();
  }
  // The members of each group, if the network has `nodes` nodes.
  [[nodiscard]] std::vector<std::vector<NodeId>> members(std::size_t nodes) const {
    std::vector<std::vector<NodeId>> all;
    for (const RankGroup& group : groups) all.push_back(group.members);
    if (!all.empty()) return all;
    for (std::size_t n = 0; n < nodes; ++n)
      (n == 0 ? all.emplace_back() : all.front()).emplace_back(n);
    return all;
  }
  [[nodiscard]] Bytes all_counts() const {
    return std::accumulate(counts.begin(), counts.end(), Bytes{0});
  }
  friend bool operator==(const Scope& a, const Scope& b) {
    return a.root == b.root && a.counts == b.counts && a.groups == b.groups;
  }
};

}  // namespace espalier
