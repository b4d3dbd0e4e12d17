// Which link may follow which in the paths of a schedule, so that its messages cannot deadlock.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// The graph of links that wait for each other stays free of cycles. All paths of a schedule share
// one object. It begins with the pairs that alg/routes/path_rule.h allows (up, then down) and
// admits others as long as they close no cycle.
class LinkOrder {
 public:
  explicit LinkOrder(const Topology& topology);
  // Begins with up*/down* paths on the breadth-first tree with another root.
  LinkOrder(const Topology& topology, NodeId root);
  // Whether `second` may follow `first` at the switch between them. Admits a new pair only if
  // `more`.
  bool admits(LinkId first, LinkId second, bool more);
  // Admits what shortest paths between nodes need, then any other pair, as far as it can.
  void admit_all();

 private:
  template <class May>
  void begin_with(May may);
  [[nodiscard]] bool reaches(std::uint32_t from, std::uint32_t to);

  const Topology& topology_;
  std::vector<std::vector<std::uint32_t>> after_;  // by link: the links that may follow
  std::vector<std::uint32_t> seen_;
  std::uint32_t search_ = 0;
  std::vector<std::uint32_t> stack_;
};

}  // namespace espalier
