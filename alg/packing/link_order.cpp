#include "alg/packing/link_order.h"

#include <utility>

#include "alg/routes/links.h"

namespace espalier {

LinkOrder::LinkOrder(const Topology& topology, NodeId root) : topology_(topology), rule_(topology) {
  const std::vector<std::size_t> level = distances_from(topology, root);
  for (const TopologyLink& link : topology.links()) {
    is_up_.push_back(std::pair(level[link.to.index()], link.to) <
                     std::pair(level[link.from.index()], link.from));
  }
}

bool LinkOrder::admits(LinkId first, LinkId second) const {
  // Nothing waits for a link out of a node before it, and a link into a node waits for nothing.
  if (!topology_.is_switch(topology_.link(first).from) ||
      !topology_.is_switch(topology_.link(second).to)) {
    return true;
  }
  if (!is_up_.empty()) return is_up_[first.index()] || !is_up_[second.index()];
  const auto state = rule_.after(PathRule::kStart, first);
  return state && rule_.after(*state, second);
}

}  // namespace espalier
