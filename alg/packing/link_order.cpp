#include "alg/packing/link_order.h"

#include <algorithm>

#include "alg/routes/path_rule.h"

namespace espalier {

LinkOrder::LinkOrder(const Topology& topology)
    : topology_(topology), after_(topology.num_links()), seen_(topology.num_links(), 0) {
  const PathRule rule(topology);
  for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
    const NodeId at = topology.link(LinkId(l)).to;
    const auto state = rule.after(PathRule::kStart, LinkId(l));
    if (!state || !topology.is_switch(at) || !topology.is_switch(topology.link(LinkId(l)).from)) {
      continue;
    }
    for (const LinkId next : topology.out_links(at)) {
      if (topology.is_switch(topology.link(next).to) && rule.after(*state, next)) {
        after_[l].push_back(next.value());
      }
    }
  }
}

bool LinkOrder::admits(LinkId first, LinkId second, bool more) {
  // Nothing waits for a link out of a node before it, and a link into a node waits for nothing.
  if (!topology_.is_switch(topology_.link(first).from) ||
      !topology_.is_switch(topology_.link(second).to)) {
    return true;
  }
  auto& after = after_[first.index()];
  if (std::find(after.begin(), after.end(), second.value()) != after.end()) return true;
  if (!more || reaches(second.value(), first.value())) return false;
  after.push_back(second.value());
  return true;
}

void LinkOrder::admit_all() {
  for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
    std::vector<LinkId> came_by(topology_.num_vertices());
    std::vector<bool> seen(topology_.num_vertices(), false);
    std::vector<NodeId> frontier{NodeId(n)};
    seen[n] = true;
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      const LinkId by = came_by[frontier[i].index()];
      for (const LinkId l : topology_.out_links(frontier[i])) {
        const NodeId to = topology_.link(l).to;
        if (seen[to.index()] || !topology_.is_switch(to)) continue;
        if (by.valid() && !admits(by, l, true)) continue;
        seen[to.index()] = true;
        came_by[to.index()] = l;
        frontier.push_back(to);
      }
    }
  }
  for (std::size_t first = 0; first < topology_.num_links(); ++first) {
    const NodeId at = topology_.link(LinkId(first)).to;
    if (!topology_.is_switch(at)) continue;
    for (const LinkId second : topology_.out_links(at)) {
      const bool back = topology_.link(second).to == topology_.link(LinkId(first)).from;
      if (!back) admits(LinkId(first), second, true);
    }
  }
}

bool LinkOrder::reaches(std::uint32_t from, std::uint32_t to) {
  ++search_;
  stack_.assign(1, from);
  seen_[from] = search_;
  while (!stack_.empty()) {
    const std::uint32_t l = stack_.back();
    stack_.pop_back();
    if (l == to) return true;
    for (const std::uint32_t next : after_[l]) {
      if (seen_[next] == search_) continue;
      seen_[next] = search_;
      stack_.push_back(next);
    }
  }
  return false;
}

}  // namespace espalier
