// Which link may follow which in the paths of a schedule, so that its messages cannot deadlock.
#pragma once

#include <utility>
#include <vector>

#include "alg/routes/links.h"
#include "alg/routes/path_rule.h"
#include "hw/topology/topology.h"

namespace espalier {

// Up, then down: the graph of links that wait for each other is free of cycles. Admitting other
// pairs as far as they close no cycle gained less than 1 % on average on every class of networks of
// tests/perf/ablation.py.
class LinkOrder {
 public:
  // As alg/routes/path_rule.h says.
  explicit LinkOrder(const Topology& topology) : topology_(topology), rule_(topology) {}
  // Up*/down* paths on the breadth-first tree with another root.
  LinkOrder(const Topology& topology, NodeId root) : LinkOrder(topology) {
    const std::vector<std::size_t> level = distances_from(topology, root);
    for (const TopologyLink& link : topology.links()) {
      is_up_.push_back(std::pair(level[link.to.index()], link.to) <
                       std::pair(level[link.from.index()], link.from));
    }
  }
  // Whether `second` may follow `first` at the switch between them.
  [[nodiscard]] bool admits(LinkId first, LinkId second) const {
    // Nothing waits for a link out of a node before it, and a link into a node waits for nothing.
    if (!topology_.is_switch(topology_.link(first).from) ||
        !topology_.is_switch(topology_.link(second).to)) {
      return true;
    }
    if (!is_up_.empty()) return is_up_[first.index()] || !is_up_[second.index()];
    const auto state = rule_.after(PathRule::kStart, first);
    return state && rule_.after(*state, second);
  }

 private:
  const Topology& topology_;
  PathRule rule_;
  std::vector<bool> is_up_;  // by link; empty: `rule_` decides
};

}  // namespace espalier
