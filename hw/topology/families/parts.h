// Parts that several families share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "hw/topology/families/family.h"

namespace espalier {

[[nodiscard]] inline FamilyKey required_count(const char* name, const char* doc,
                                              std::uint64_t min = 1) {
  return {FamilyKey::Kind::count, name, doc, true, min, min};
}
[[nodiscard]] inline FamilyKey nodes_key() {
  return required_count("nodes", "number of accelerators", 2);
}
[[nodiscard]] inline FamilyKey nodes_per_switch_key() {
  return required_count("nodes_per_switch", "number of accelerators at one switch");
}
// Latency and bandwidth of one kind of links, which lead from `where`.
[[nodiscard]] FamilyKey latency_key(const std::string& name, const std::string& where);
[[nodiscard]] FamilyKey bandwidth_key(const std::string& name, const std::string& where);

// A route that grows hop by hop.
class Walk {
 public:
  Walk(const Topology& topology, NodeId from) : topology_(topology), at_(from) {}

  void leave_by(std::size_t port) { take(topology_.out_links(at_)[port]); }
  void go_to(NodeId next) {
    if (next != at_) take(topology_.link_between(at_, next));
  }
  void take(LinkId link) {
    links_.push_back(link);
    at_ = topology_.link(link).to;
  }
  [[nodiscard]] NodeId at() const { return at_; }
  [[nodiscard]] const std::vector<LinkId>& links() const { return links_; }

 private:
  const Topology& topology_;
  NodeId at_;
  std::vector<LinkId> links_;
};

// `count` vertices in the order of their ids, for a row of a picture.
[[nodiscard]] std::vector<NodeId> vertices_from(std::size_t first, std::size_t count);

// Leaf switches. Node n is attached to leaf n / nodes_per_switch by one link each way. Switch
// vertices: leaves, then spines. Names: nodes n_<i>, leaves sw_<i>, spines sp_<i>. A port has the
// name of the vertex to which it leads (n3, sw3, sp3; sw1_3 is the fourth of parallel links to
// sw_1). A leaf's ports lead to its nodes in order, then to switches in order: links between
// switches are added later.
[[nodiscard]] Topology make_leaves(const std::string& name, std::size_t nodes_per_switch,
                                   std::size_t leaves, std::size_t spines, LinkSpec link);
[[nodiscard]] inline NodeId leaf_switch(const Topology& topology, std::size_t leaf) {
  return NodeId(topology.num_nodes() + leaf);
}
// Leads a walk from the leaf of `from` to the leaf of `to`, which is another one.
using CrossSwitches =
    std::function<void(NodeId from, NodeId to, std::uint32_t channel, Walk& walk)>;
// Routes on which nodes of one leaf meet at the leaf, and a picture of leaves above their nodes.
[[nodiscard]] NetworkShape leaves_shape(const Topology& topology, std::size_t nodes_per_switch,
                                        CrossSwitches cross);
// Every leaf has `peers` links to other switches.
[[nodiscard]] NetworkSize size_of_leaves(std::string name, std::uint64_t nodes_per_switch,
                                         std::uint64_t leaves, std::uint64_t peers);
[[nodiscard]] ServerShape leaf_as_server(const NetworkSpec& spec);

}  // namespace espalier
