#include "alg/routes/switched_routes.h"

#include <cstdint>

namespace espalier {

namespace {

// A route that grows hop by hop.
class Walk {
 public:
  Walk(const Topology& topology, NodeId from) : topology_(topology), at_(from) {}

  void leave_by(std::size_t port) {
    links_.push_back(topology_.out_links(at_)[port]);
    at_ = topology_.link(links_.back()).to;
  }
  void go_to(NodeId next) {
    if (next == at_) return;
    links_.push_back(topology_.link_between(at_, next));
    at_ = next;
  }
  [[nodiscard]] std::vector<LinkId> links() && { return std::move(links_); }

 private:
  const Topology& topology_;
  NodeId at_;
  std::vector<LinkId> links_;
};

void cross_bigraph(const SwitchedShape& shape, std::uint32_t source, std::uint32_t destination,
                   Walk& walk) {
  const std::uint32_t half = shape.leaves / 2;
  // A leaf's ports behind its nodes lead to the other side, in order of position.
  const auto hop_to = [&](std::uint32_t leaf) {
    walk.leave_by(std::size_t{shape.nodes_per_switch} + leaf % half);
  };
  if (shape.is_upper(source) == shape.is_upper(destination)) hop_to(source);
  hop_to(destination);
}

void cross_dragonfly(const Topology& topology, std::uint32_t source, std::uint32_t destination,
                     Walk& walk) {
  const SwitchedShape& shape = *topology.switched();
  const std::uint32_t group = shape.group_of(source);
  const std::uint32_t other = shape.group_of(destination);
  if (group != other) {
    walk.go_to(topology.leaf_switch(shape.gateway(group, other)));
    walk.go_to(topology.leaf_switch(shape.gateway(other, group)));
  }
  walk.go_to(topology.leaf_switch(destination));
}

void cross_switches(const Topology& topology, NodeId from, NodeId to, std::uint32_t channel,
                    Walk& walk) {
  const SwitchedShape& shape = *topology.switched();
  const std::uint32_t source = shape.leaf_of(from);
  const std::uint32_t destination = shape.leaf_of(to);
  if (source == destination) return;
  switch (shape.kind) {
    case SwitchedShape::Kind::single_switch:
      break;
    case SwitchedShape::Kind::switch_pair:
      walk.leave_by(std::size_t{shape.nodes_per_switch} +
                    (std::size_t{to.value()} + channel) % shape.spines);
      break;
    case SwitchedShape::Kind::fat_tree:
      walk.leave_by(std::size_t{shape.nodes_per_switch} +
                    (std::size_t{from.value()} + channel) % shape.spines);
      walk.leave_by(destination);
      break;
    case SwitchedShape::Kind::bigraph:
      cross_bigraph(shape, source, destination, walk);
      break;
    case SwitchedShape::Kind::dragonfly:
      cross_dragonfly(topology, source, destination, walk);
      break;
  }
}

}  // namespace

std::vector<LinkId> switched_route(const Topology& topology, NodeId from, NodeId to,
                                   std::uint32_t channel) {
  Walk walk(topology, from);
  walk.leave_by(0);
  cross_switches(topology, from, to, channel, walk);
  walk.leave_by(to.value() % topology.switched()->nodes_per_switch);
  return std::move(walk).links();
}

}  // namespace espalier
