// The network as a graph: accelerator nodes and switches, directed links between their ports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hw/ids.h"
#include "hw/link_spec.h"
#include "hw/topology/shape.h"

namespace espalier {

// The most nodes and switches of a network. Ids and their differences then fit 32 bits.
inline constexpr std::uint64_t kMostVertices = std::uint64_t{1} << 31;

struct TopologyLink {
  NodeId from;
  NodeId to;
  std::uint32_t out_port = 0;  // index among the links that leave `from`
  std::uint32_t in_port = 0;   // index among the links that enter `to`
  std::string out_name;        // "e": part of the module name, unique per node
  std::string in_name;
  LinkSpec spec;
};

class Topology {
 public:
  explicit Topology(std::string name) : name_(std::move(name)) {}

  // All nodes must be added before the first switch. Throws std::invalid_argument on a duplicate
  // name.
  NodeId add_node(const std::string& vertex_name);
  NodeId add_switch(const std::string& vertex_name);
  // Ports are numbered in the order of the calls. Throws std::invalid_argument on a duplicate port
  // name, on a self loop and on an unknown vertex.
  LinkId add_link(NodeId from, NodeId to, LinkSpec spec, const std::string& out_name,
                  const std::string& in_name);
  // Adds a link from a vertex to itself. Only folded systems (make_folded) have such links.
  LinkId add_loop(NodeId vertex, LinkSpec spec, const std::string& out_name,
                  const std::string& in_name);
  void set_shape(NetworkShape shape) {
    shape_ = std::make_shared<const NetworkShape>(std::move(shape));
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::size_t num_vertices() const { return vertex_names_.size(); }
  [[nodiscard]] std::size_t num_switches() const { return num_vertices() - num_nodes_; }
  [[nodiscard]] std::size_t num_links() const { return links_.size(); }
  [[nodiscard]] bool is_switch(NodeId v) const { return v.index() >= num_nodes_; }

  [[nodiscard]] const std::string& vertex_name(NodeId v) const { return vertex_names_[v.index()]; }
  [[nodiscard]] const TopologyLink& link(LinkId id) const { return links_[id.index()]; }
  [[nodiscard]] const std::vector<TopologyLink>& links() const { return links_; }
  // In port order, which is also the order in which tree algorithms try neighbours (MultiTree: Y
  // before X).
  [[nodiscard]] const std::vector<LinkId>& out_links(NodeId v) const { return out_[v.index()]; }
  [[nodiscard]] const std::vector<LinkId>& in_links(NodeId v) const { return in_[v.index()]; }
  [[nodiscard]] const NetworkShape& shape() const { return *shape_; }
  [[nodiscard]] const std::optional<GridShape>& grid() const { return shape_->grid; }
  [[nodiscard]] const std::optional<DimensionedShape>& dimensions() const {
    return shape_->dimensions;
  }
  // True if one node stands for all nodes of a multi-dimensional system (make_folded).
  [[nodiscard]] bool is_folded() const { return dimensions() && num_nodes_ == 1; }
  // Precondition: dimensions().
  [[nodiscard]] std::size_t dimension_of(LinkId id) const {
    const TopologyLink& l = link(id);
    return dimensions()->dimension_of_port(is_switch(l.from) ? l.in_port : l.out_port);
  }
  // True if this switch reduces and multicasts for a group of a multi-dimensional system
  // (in_network).
  [[nodiscard]] bool aggregates(NodeId v) const {
    return dimensions() && is_switch(v) &&
           dimensions()->dimensions[dimension_of(out_links(v).front())].one_switch;
  }
  // The racks of shape().racks.
  [[nodiscard]] NodeId rack_switch(std::uint32_t rack) const { return NodeId(num_nodes_ + rack); }
  [[nodiscard]] bool is_rack_switch(NodeId v) const {
    return is_switch(v) && v.index() - num_nodes_ < shape_->racks.racks;
  }
  // Returns an invalid id if no vertex has that name.
  [[nodiscard]] NodeId find_vertex(const std::string& vertex_name) const;
  // The first link from `from` to `to` in port order; an invalid id if they are not neighbours.
  [[nodiscard]] LinkId link_between(NodeId from, NodeId to) const;

  // A vertex that cannot be reached from vertex 0, or cannot reach it; an invalid id if all can.
  [[nodiscard]] NodeId find_disconnected() const;

 private:
  // Port names of one side of vertices with so many ports that a search through the links would
  // take too long. Looked up, never iterated.
  using PortNames = std::unordered_map<NodeId, std::unordered_set<std::string>>;

  NodeId add_vertex(const std::string& vertex_name);
  LinkId connect(NodeId from, NodeId to, LinkSpec spec, const std::string& out_name,
                 const std::string& in_name);
  // Takes the name for a port at one side of `vertex`, whose other links at that side are `links`.
  // Returns false if one of the links already has the name.
  bool take_port_name(const std::vector<LinkId>& links, std::string TopologyLink::*side,
                      PortNames& crowded, NodeId vertex, const std::string& port_name);

  std::string name_;
  std::size_t num_nodes_ = 0;
  std::vector<std::string> vertex_names_;
  std::unordered_map<std::string, NodeId> vertex_by_name_;  // looked up, never iterated
  std::vector<TopologyLink> links_;
  std::vector<std::vector<LinkId>> out_;
  std::vector<std::vector<LinkId>> in_;
  PortNames crowded_out_;
  PortNames crowded_in_;
  std::shared_ptr<const NetworkShape> shape_ = std::make_shared<const NetworkShape>();
};

// A multi-dimensional system (hw/topology/dimensioned.cpp). Nodes are named r_<x1>_<x2>_... In
// dimension d (counted from 1), the switch of plane p is named sw_<d>_<p>_<coordinates of its nodes
// without the d-th>. Links are numbered as described at DimensionedShape. A node's ports are named
// d<d>_<i>, where i starts from 0 in each dimension. A switch's port is named n<x> after the
// coordinate of its node, or n<x>_<i> if one switch has all links of its NPUs. Throws
// std::invalid_argument if there is no dimension, if a dimension has fewer than 2 NPUs, or if its
// shape does not permit its number of links.
[[nodiscard]] Topology make_dimensions(const std::vector<DimensionSpec>& dimensions);
// The same system as one network: routers of NPUs pass messages on from one dimension to the next.
// Packets take the dimensions in order, on a ring the shorter way. Its shape is
// NetworkShape::joined.
[[nodiscard]] Topology make_joined(const std::vector<DimensionSpec>& dimensions);
// The sizes of the dimensions of a grid, or of NetworkShape::joined; empty: the network has none.
// And a node's coordinates in them.
[[nodiscard]] std::vector<std::uint32_t> dimension_sizes(const Topology& topology);
[[nodiscard]] std::vector<std::uint32_t> coordinates_of(const Topology& topology, NodeId node);
// The same system with its first node only, for runs in which all nodes do the same. The links of
// the node lead back to itself; links to a switch lead over a switch that serves no other node.
// dimensions() keeps the real sizes.
[[nodiscard]] Topology make_folded(const std::vector<DimensionSpec>& dimensions);

// The network without some vertices and links, by id; links of a lost vertex are lost too. It has
// its own name. What is left keeps its names, order and positions, a grid's too, but no other
// shape: it is irregular. It may fall apart; find_disconnected() says so.
[[nodiscard]] Topology without_parts(const Topology& topology, const std::string& name,
                                     const std::vector<bool>& lost_vertices,
                                     const std::vector<bool>& lost_links);

// For builders of networks: the name of the port that leads to `vertex`. It is the name of the
// vertex as one word: the port to sw_3 is sw3.
[[nodiscard]] std::string port_to(const Topology& topology, NodeId vertex);

// Adds a link in each direction. `suffix` tells parallel links apart.
void add_cable(Topology& topology, NodeId a, NodeId b, LinkSpec spec,
               const std::string& suffix = "");

}  // namespace espalier
