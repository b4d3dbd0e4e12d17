// Networks that look the same from every node: MultiTree's trees there need only be built once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// The nodes as elements of the group Z_k1 x Z_k2 x ..., numbered like a grid (first coordinate
// fastest), on which the network is a Cayley graph: port j of every node v leads to v + g_j. To add
// an element is then an automorphism of the network, and takes links to links of the same port.
// Tori, rings, hypercubes, fully connected networks.
class Translations {
 public:
  // Nothing where the topology has switches, or where a port leads to another relative node, or has
  // another rate or latency, at some node.
  [[nodiscard]] static std::optional<Translations> find(const Topology& topology);

  [[nodiscard]] std::size_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] const std::vector<std::uint32_t>& dims() const { return dims_; }
  // g_j, by port.
  [[nodiscard]] const std::vector<NodeId>& generators() const { return generators_; }

  [[nodiscard]] NodeId add(NodeId a, NodeId b) const { return combine(a, b, false); }
  [[nodiscard]] NodeId subtract(NodeId a, NodeId b) const { return combine(a, b, true); }
  [[nodiscard]] NodeId negative(NodeId a) const { return subtract(NodeId(0), a); }
  // The same port's link at the node that `by` is added to.
  [[nodiscard]] LinkId translate(LinkId link, NodeId by) const {
    const std::size_t degree = generators_.size();
    const std::size_t place = place_of_link_[link.index()];
    return link_at_[add(NodeId(place / degree), by).index() * degree + place % degree];
  }

  // Flows and chunks are numbered by their root, `per_root` each: the one of the root that `by` is
  // added to.
  template <class AnyId>
  [[nodiscard]] AnyId translate_root(AnyId id, std::size_t per_root, NodeId by) const {
    const NodeId root(id.index() / per_root);
    return AnyId(add(root, by).index() * per_root + id.index() % per_root);
  }

 private:
  Translations(std::vector<std::uint32_t> dims, std::size_t num_nodes)
      : dims_(std::move(dims)), num_nodes_(num_nodes) {}
  [[nodiscard]] NodeId combine(NodeId a, NodeId b, bool minus) const;

  std::vector<std::uint32_t> dims_;
  std::size_t num_nodes_;
  std::vector<NodeId> generators_;
  std::vector<LinkId> link_at_;             // by node and port
  std::vector<std::size_t> place_of_link_;  // the index of that, by link
};

}  // namespace espalier
