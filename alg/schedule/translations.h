// Networks that look the same from every node. On these networks, MultiTree's trees need to be
// built only once.
#pragma once

#include <optional>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// The nodes as elements of the group Z_k1 x Z_k2 x ..., numbered like a grid (first coordinate
// fastest), on which the network is a Cayley graph: port j of every node v leads to v + g_j. Adding
// an element is then an automorphism of the network, which maps links to links of the same port.
// Examples are tori, rings, hypercubes and fully connected networks. The group of a twisted grid
// adds the places by which it leads further.
class Translations {
 public:
  // Returns nothing if the topology has switches, or if a port leads to another relative node, or
  // has another rate or latency, at some node.
  [[nodiscard]] static std::optional<Translations> find(const Topology& topology);

  [[nodiscard]] std::size_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] const GridShape& grid() const { return grid_; }
  // The generators g_j, by port.
  [[nodiscard]] const std::vector<NodeId>& generators() const { return generators_; }

  [[nodiscard]] NodeId add(NodeId a, NodeId b) const { return combine(a, b, false); }
  [[nodiscard]] NodeId subtract(NodeId a, NodeId b) const { return combine(a, b, true); }
  [[nodiscard]] NodeId negative(NodeId a) const { return subtract(NodeId(0), a); }
  // The link of the same port at the node that is reached by adding `by`.
  [[nodiscard]] LinkId translate(LinkId link, NodeId by) const {
    const std::size_t degree = generators_.size();
    const std::size_t place = place_of_link_[link.index()];
    return link_at_[add(NodeId(place / degree), by).index() * degree + place % degree];
  }

  // Flows and chunks are numbered by their root, `per_root` for each root. Returns the
  // corresponding id of the root that is reached by adding `by`.
  template <class AnyId>
  [[nodiscard]] AnyId translate_root(AnyId id, std::size_t per_root, NodeId by) const {
    const NodeId root(id.index() / per_root);
    return AnyId(add(root, by).index() * per_root + id.index() % per_root);
  }

 private:
  Translations(GridShape grid, std::size_t num_nodes)
      : grid_(std::move(grid)), num_nodes_(num_nodes) {}
  [[nodiscard]] NodeId combine(NodeId a, NodeId b, bool minus) const;

  GridShape grid_;
  std::size_t num_nodes_;
  std::vector<NodeId> generators_;
  std::vector<LinkId> link_at_;             // by node and port
  std::vector<std::size_t> place_of_link_;  // index into link_at_, by link
};

}  // namespace espalier
