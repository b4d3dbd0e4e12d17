// Which link may follow which in the paths of a schedule, so that its messages cannot deadlock.
#pragma once

#include <vector>

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
  LinkOrder(const Topology& topology, NodeId root);
  // Whether `second` may follow `first` at the switch between them.
  [[nodiscard]] bool admits(LinkId first, LinkId second) const;

 private:
  const Topology& topology_;
  PathRule rule_;
  std::vector<bool> is_up_;  // by link; empty: `rule_` decides
};

}  // namespace espalier
