#include "alg/packing/link_order.h"

#include <algorithm>
#include <utility>

#include "alg/routes/links.h"
#include "alg/routes/path_rule.h"

namespace espalier {

LinkOrder::LinkOrder(const Topology& topology)
    : topology_(topology), after_(topology.num_links()), seen_(topology.num_links(), 0) {
  const PathRule rule(topology);
  begin_with([&](LinkId first, LinkId second) {
    const auto state = rule.after(PathRule::kStart, first);
    return state && rule.after(*state, second);
  });
}

LinkOrder::LinkOrder(const Topology& topology, NodeId root)
    : topology_(topology), after_(topology.num_links()), seen_(topology.num_links(), 0) {
  const std::vector<std::size_t> level = distances_from(topology, root);
  const auto is_up = [&](LinkId l) {
    const TopologyLink& link = topology.link(l);
    return std::pair(level[link.to.index()], link.to) <
           std::pair(level[link.from.index()], link.from);
  };
  begin_with([&](LinkId first, LinkId second) { return is_up(first) || !is_up(second); });
}

// `may`: whether a link between switches may follow another one.
template <class May>
void LinkOrder::begin_with(May may) {
  for (std::uint32_t l = 0; l < topology_.num_links(); ++l) {
    const NodeId at = topology_.link(LinkId(l)).to;
    if (!topology_.is_switch(at) || !topology_.is_switch(topology_.link(LinkId(l)).from)) continue;
    for (const LinkId next : topology_.out_links(at)) {
      if (topology_.is_switch(topology_.link(next).to) && may(LinkId(l), next)) {
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
