// The network as a graph: accelerator nodes and switches, directed links between their ports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hw/ids.h"
#include "hw/link_spec.h"
#include "hw/topology/dimensions.h"

namespace espalier {

// How a job's nodes (virtual machines) are put on host slots. Slots are counted rack by rack.
enum class Placement : std::uint8_t {
  packed,  // node i in slot i: rack after rack is filled
  spread,  // node i in rack i mod racks
  random   // any free slot, as in a provider's list of addresses
};

// Kept beside the graph for routes that need its structure. Slots without a node belong to other
// tenants and are no part of the network. Switch vertices: ToRs rack by rack, aggregation switches
// pod by pod, cores; a single pod has no cores.
struct DataCenterShape {
  std::uint32_t pods = 1;
  std::uint32_t racks_per_pod = 1;
  std::uint32_t hosts_per_rack = 1;
  // Uplink k of a ToR leads to aggregation switch k mod aggregations_per_pod of its pod.
  std::uint32_t rack_uplinks = 1;  // a multiple of aggregations_per_pod
  std::uint32_t aggregations_per_pod = 1;
  // Uplink k of a pod's aggregation switch a leads to core (a aggregation_uplinks + k) mod cores.
  std::uint32_t aggregation_uplinks = 1;
  std::uint32_t cores = 1;           // at most a pod's uplinks
  std::uint64_t ecmp_seed = 0;       // of the choice among equal paths
  std::vector<std::uint32_t> slots;  // by node, all different

  [[nodiscard]] std::uint32_t racks() const { return pods * racks_per_pod; }
  [[nodiscard]] std::uint32_t aggregations() const { return pods * aggregations_per_pod; }
  [[nodiscard]] std::uint32_t rack_of(NodeId node) const {
    return slots[node.index()] / hosts_per_rack;
  }
  [[nodiscard]] std::uint32_t pod_of(std::uint32_t rack) const { return rack / racks_per_pod; }
};

// Host to ToR, ToR to aggregation switch, aggregation switch to core.
struct DataCenterLinks {
  LinkSpec rack;
  LinkSpec aggregation;
  LinkSpec core;
};

// What the links into a level could bring, over what those out of it carry: 4 is "4 to 1". 0 where
// there is no such level.
struct Oversubscription {
  double rack = 0;         // all of a rack's hosts over its uplinks
  double aggregation = 0;  // all of a pod's racks over the pod's uplinks
};
[[nodiscard]] Oversubscription oversubscription(const DataCenterShape& shape,
                                                const DataCenterLinks& links);

// Slots of `nodes` nodes in a data centre of `racks` x `hosts_per_rack`; `seed` of
// Placement::random. Throws std::invalid_argument where there are fewer slots than nodes.
[[nodiscard]] std::vector<std::uint32_t> place_nodes(Placement placement, std::uint32_t nodes,
                                                     std::uint32_t racks,
                                                     std::uint32_t hosts_per_rack,
                                                     std::uint64_t seed);

// Nodes and switches of a network, so that ids fit 32 bits with room for differences.
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

// A regular grid, kept beside the graph for algorithms that need coordinates.
// Node id = x + X * (y + Y * z); dims = {X, Y, Z}, as written in the configuration.
struct GridShape {
  std::vector<std::uint32_t> dims;
  bool wraps = false;  // torus

  [[nodiscard]] std::vector<std::uint32_t> coordinates(NodeId node) const;
  [[nodiscard]] NodeId node_at(const std::vector<std::uint32_t>& coordinates) const;
};

// A switched network, kept beside the graph for routes and rank mappings that need its structure.
// Node n is attached to leaf switch n / nodes_per_switch by one link each way. Switch vertices come
// in this order: leaves (dragonfly: all of group 0, then group 1, ...), then spines.
struct SwitchedShape {
  enum class Kind : std::uint8_t {
    single_switch,
    switch_pair,  // two switches with parallel links between them (one plane of a DGX-2)
    fat_tree,     // two levels: every leaf has one link to every spine
    bigraph,      // two sides, every switch linked to every switch of the other side
    dragonfly     // groups, fully connected inside and among each other
  };
  Kind kind = Kind::single_switch;
  std::uint32_t nodes_per_switch = 1;
  std::uint32_t leaves = 1;      // switches with nodes; bigraph: the first half is the upper side
  std::uint32_t spines = 0;      // fat_tree; switch_pair: parallel links between the two
  std::uint32_t group_size = 1;  // dragonfly: switches of a group

  [[nodiscard]] std::uint32_t leaf_of(NodeId node) const { return node.value() / nodes_per_switch; }
  // bigraph: the leaf is on the upper side.
  [[nodiscard]] bool is_upper(std::uint32_t leaf) const { return leaf < leaves / 2; }

  // dragonfly
  [[nodiscard]] std::uint32_t groups() const { return leaves / group_size; }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t leaf) const { return leaf / group_size; }
  // The leaf of `group` with the link to group `other`. A group counts the others from itself
  // onwards, 0 to groups - 2; switch i of its group_size switches has those from
  // ceil(i (groups - 1) / group_size) on: shares differ by at most one link.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t group, std::uint32_t other) const;
};

// Servers of GPUs, kept beside the graph for routes that need its structure. Nodes are numbered
// server by server. Every server has a switch with a link to each of its GPUs; where there are
// several servers, groups of GPUs share network interface cards (NICs), each with a link to every
// GPU of its group and one to the fabric switch. Switch vertices: the servers' switches, then the
// NICs (server by server, group by group), then the fabric.
struct ClusterShape {
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t gpus_per_nic_group = 1;  // divides gpus_per_server
  std::uint32_t nics_per_group = 1;

  [[nodiscard]] std::uint32_t nodes() const { return servers * gpus_per_server; }
  [[nodiscard]] std::uint32_t groups() const { return nodes() / gpus_per_nic_group; }
  [[nodiscard]] std::uint32_t nics() const { return servers == 1 ? 0 : groups() * nics_per_group; }
  [[nodiscard]] std::uint32_t server_of(NodeId gpu) const { return gpu.value() / gpus_per_server; }
  [[nodiscard]] std::uint32_t group_of(NodeId gpu) const {
    return gpu.value() / gpus_per_nic_group;
  }
  [[nodiscard]] std::uint32_t place_in_group(NodeId gpu) const {
    return gpu.value() % gpus_per_nic_group;
  }
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
  // The same back to where it starts: in a folded system (make_folded) alone.
  LinkId add_loop(NodeId vertex, LinkSpec spec, const std::string& out_name,
                  const std::string& in_name);
  void set_grid(GridShape grid) { grid_ = std::move(grid); }
  void set_switched(SwitchedShape shape) { switched_ = shape; }
  void set_cluster(ClusterShape shape) { cluster_ = shape; }
  void set_data_center(DataCenterShape shape) { data_center_ = std::move(shape); }
  void set_dimensions(DimensionedShape shape) { dimensions_ = std::move(shape); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::size_t num_vertices() const { return vertex_names_.size(); }
  [[nodiscard]] std::size_t num_switches() const { return num_vertices() - num_nodes_; }
  [[nodiscard]] std::size_t num_links() const { return links_.size(); }
  [[nodiscard]] bool is_switch(NodeId v) const { return v.index() >= num_nodes_; }

  [[nodiscard]] const std::string& vertex_name(NodeId v) const { return vertex_names_[v.index()]; }
  [[nodiscard]] const TopologyLink& link(LinkId id) const { return links_[id.index()]; }
  [[nodiscard]] const std::vector<TopologyLink>& links() const { return links_; }
  // In port order, which is also the neighbour order of the tree algorithms (MultiTree: Y before
  // X).
  [[nodiscard]] const std::vector<LinkId>& out_links(NodeId v) const { return out_[v.index()]; }
  [[nodiscard]] const std::vector<LinkId>& in_links(NodeId v) const { return in_[v.index()]; }
  [[nodiscard]] const std::optional<GridShape>& grid() const { return grid_; }
  [[nodiscard]] const std::optional<SwitchedShape>& switched() const { return switched_; }
  [[nodiscard]] const std::optional<ClusterShape>& cluster() const { return cluster_; }
  [[nodiscard]] const std::optional<DataCenterShape>& data_center() const { return data_center_; }
  [[nodiscard]] const std::optional<DimensionedShape>& dimensions() const { return dimensions_; }
  // One node stands for all of a multi-dimensional system (make_folded).
  [[nodiscard]] bool is_folded() const { return dimensions_ && num_nodes_ == 1; }
  // Precondition: dimensions().
  [[nodiscard]] std::size_t dimension_of(LinkId id) const {
    const TopologyLink& l = link(id);
    return dimensions_->dimension_of_port(is_switch(l.from) ? l.in_port : l.out_port);
  }
  // The switch adds and copies for a group of a multi-dimensional system (in_network).
  [[nodiscard]] bool aggregates(NodeId v) const {
    return dimensions_ && is_switch(v) &&
           dimensions_->dimensions[dimension_of(out_links(v).front())].one_switch;
  }
  // Preconditions: the network is switched, the index is in the shape's range.
  [[nodiscard]] NodeId leaf_switch(std::uint32_t leaf) const { return NodeId(num_nodes_ + leaf); }
  [[nodiscard]] NodeId spine_switch(std::uint32_t spine) const {
    return NodeId(num_nodes_ + switched_->leaves + spine);
  }
  // Preconditions: cluster(), the index is in the shape's range; of the last two: several servers.
  [[nodiscard]] NodeId server_switch(std::uint32_t server) const {
    return NodeId(num_nodes_ + server);
  }
  [[nodiscard]] NodeId nic(std::uint32_t index) const {
    return NodeId(num_nodes_ + cluster_->servers + index);
  }
  [[nodiscard]] NodeId fabric() const { return nic(cluster_->nics()); }
  // Preconditions: data_center(), the indices are in the shape's range; of the last: several pods.
  [[nodiscard]] NodeId tor_switch(std::uint32_t rack) const { return NodeId(num_nodes_ + rack); }
  [[nodiscard]] NodeId aggregation_switch(std::uint32_t pod, std::uint32_t index) const {
    return tor_switch(data_center_->racks() + pod * data_center_->aggregations_per_pod + index);
  }
  [[nodiscard]] NodeId core_switch(std::uint32_t index) const {
    return aggregation_switch(data_center_->pods, index);
  }
  // Precondition: data_center().
  [[nodiscard]] bool is_tor(NodeId v) const {
    return is_switch(v) && v.index() - num_nodes_ < data_center_->racks();
  }
  // An invalid id where no vertex has that name.
  [[nodiscard]] NodeId find_vertex(const std::string& vertex_name) const;
  // First link from `from` to `to` in port order; an invalid id where they are no neighbours.
  [[nodiscard]] LinkId link_between(NodeId from, NodeId to) const;

  // A vertex that cannot be reached from vertex 0, or cannot reach it; an invalid id if all can.
  [[nodiscard]] NodeId find_disconnected() const;

 private:
  // Port names of one side of a vertex with many ports, where looking through the links would take
  // too long. Looked up, never iterated.
  using PortNames = std::unordered_map<NodeId, std::unordered_set<std::string>>;

  NodeId add_vertex(const std::string& vertex_name);
  LinkId connect(NodeId from, NodeId to, LinkSpec spec, const std::string& out_name,
                 const std::string& in_name);
  // Whether none of `links`, all at that side of `vertex`, has the name yet; it is taken then.
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
  std::optional<GridShape> grid_;
  std::optional<SwitchedShape> switched_;
  std::optional<ClusterShape> cluster_;
  std::optional<DataCenterShape> data_center_;
  std::optional<DimensionedShape> dimensions_;
};

// Torus or mesh of 1 to 3 dimensions {X, Y, Z}, each >= 1, at least 2 nodes. Ports, in neighbour
// order: d and u (z-1, z+1), n and s (y-1, y+1), w and e (x-1, x+1). A torus dimension of size 2
// has two parallel links each way (one per direction), a dimension of size 1 none.
[[nodiscard]] Topology make_torus(const std::vector<std::uint32_t>& dims, LinkSpec spec);
[[nodiscard]] Topology make_mesh(const std::vector<std::uint32_t>& dims, LinkSpec spec);

// Every node linked to every other; port j of node v leads to node (v + j + 1) mod N, so that a
// port is the same direction everywhere. At least 2 nodes.
[[nodiscard]] Topology make_fully_connected(std::uint32_t nodes, LinkSpec spec);

// Switched networks (hw/topology/switched.cpp). Nodes have one link each way and are numbered leaf
// by leaf; names: nodes n_<i>, leaf switches sw_<i>, spines sp_<i>; a port is called as the vertex
// it leads to (n3, sw3, sp3; sw1_3 is the fourth of parallel links). Ports of a leaf: its nodes in
// order, then switches in order. Throw std::invalid_argument where a parameter is out of range.
[[nodiscard]] Topology make_single_switch(std::uint32_t nodes, LinkSpec spec);
// Two switches of `nodes_per_switch` nodes with as many parallel links between them as each has
// nodes: one physical network of a DGX-2.
[[nodiscard]] Topology make_switch_pair(std::uint32_t nodes_per_switch, LinkSpec spec);
// k-ary 2-level: nodes_per_switch = switches = spines = k. Any other arity too.
[[nodiscard]] Topology make_fat_tree(std::uint32_t nodes_per_switch, std::uint32_t switches,
                                     std::uint32_t spines, LinkSpec spec);
// EFLOPS's BiGraph: `switches` (even) in all, half on either side; MultiTree's 4x8 has 4 nodes on
// each of 8 switches.
[[nodiscard]] Topology make_bigraph(std::uint32_t nodes_per_switch, std::uint32_t switches,
                                    LinkSpec spec);
// Canonical dragonfly: `groups` of `group_size` switches with `nodes_per_switch` nodes each; every
// pair of groups has one link each way, spread evenly over the groups' switches.
[[nodiscard]] Topology make_dragonfly(std::uint32_t nodes_per_switch, std::uint32_t group_size,
                                      std::uint32_t groups, LinkSpec spec);

// Servers of GPUs (hw/topology/switched.cpp): `server_link` between a GPU and its server's
// switch, `nic_link` between GPU and NIC and between NIC and fabric. Names: GPUs n_<i>, servers'
// switches nvs_<i>, NICs nic_<i>, the fabric ib; ports as in switched networks. Ports of a GPU: its
// server's switch, then its group's NICs; of a NIC: its GPUs, then the fabric. Throws
// std::invalid_argument where a count is 0, where groups do not divide a server, or where there are
// fewer than 2 GPUs.
[[nodiscard]] Topology make_gpu_cluster(const ClusterShape& shape, LinkSpec server_link,
                                        LinkSpec nic_link);

// A hierarchical data centre (hw/topology/data_center.cpp). Names: nodes n_<i>, ToRs tor_<rack>,
// aggregation switches agg_<pod>_<i>, cores core_<i>; ports as in switched networks. Ports of a
// ToR: its nodes in order, then its uplinks; of an aggregation switch: its racks' links, then its
// uplinks; of a core: pod by pod. Throws std::invalid_argument where the shape is not as
// DataCenterShape says.
[[nodiscard]] Topology make_data_center(const DataCenterShape& shape, const DataCenterLinks& links);

// A multi-dimensional system (hw/topology/dimensioned.cpp). Nodes are named r_<x1>_<x2>_..., the
// switch of plane p of a group in dimension d (counted from 1) sw_<d>_<p>_<coordinates of its
// nodes, without the d-th>. Links are numbered as DimensionedShape says; a node's ports are called
// d<d>_<i>, i from 0 on in each dimension, a switch's n<x>, as the coordinate that they lead to;
// n<x>_<i> where one switch has all links of its NPUs. Throws std::invalid_argument where a
// dimension has fewer than 2 NPUs or a number of links that its shape does not permit, or where
// there is no dimension.
[[nodiscard]] Topology make_dimensions(const std::vector<DimensionSpec>& dimensions);
// The same system as its first node sees it where all nodes do the same: its links lead back to
// itself, those to a switch over a switch that serves no other node. dimensions() keeps the real
// sizes.
[[nodiscard]] Topology make_folded(const std::vector<DimensionSpec>& dimensions);

// For builders of networks. A port has the name of the vertex it leads to, as one word: the link to
// sw_3 is sw3.
[[nodiscard]] std::string port_to(const Topology& topology, NodeId vertex);

// Adds a link in each direction. `suffix` tells parallel links apart.
void add_cable(Topology& topology, NodeId a, NodeId b, LinkSpec spec,
               const std::string& suffix = "");

}  // namespace espalier
