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

// How a job's nodes (virtual machines) are assigned to host slots. Slots are numbered rack by rack.
enum class Placement : std::uint8_t {
  packed,  // node i in slot i: one rack after another is filled
  spread,  // node i in rack i mod racks
  random   // any free slot, as in a cloud provider's list of addresses
};

// Kept beside the graph for routes that need its structure. Slots without a node belong to other
// tenants and have no vertex in the graph. Order of switch vertices: ToRs rack by rack, aggregation
// switches pod by pod, cores. A single pod has no cores.
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
  std::uint64_t ecmp_seed = 0;       // selects one of several equal paths
  std::vector<std::uint32_t> slots;  // slot of each node; all different

  [[nodiscard]] std::uint32_t racks() const { return pods * racks_per_pod; }
  [[nodiscard]] std::uint32_t aggregations() const { return pods * aggregations_per_pod; }
  [[nodiscard]] std::uint32_t rack_of(NodeId node) const {
    return slots[node.index()] / hosts_per_rack;
  }
  [[nodiscard]] std::uint32_t pod_of(std::uint32_t rack) const { return rack / racks_per_pod; }
};

// Links from host to ToR, from ToR to aggregation switch, and from aggregation switch to core.
struct DataCenterLinks {
  LinkSpec rack;
  LinkSpec aggregation;
  LinkSpec core;
};

// Bandwidth into a level divided by bandwidth out of it; 4 means "4 to 1". 0: the network has no
// such level.
struct Oversubscription {
  double rack = 0;         // all hosts of a rack over the rack's uplinks
  double aggregation = 0;  // all racks of a pod over the pod's uplinks
};
[[nodiscard]] Oversubscription oversubscription(const DataCenterShape& shape,
                                                const DataCenterLinks& links);

// Slots of `nodes` nodes in a data centre of `racks` x `hosts_per_rack`. Only Placement::random
// uses `seed`. Throws std::invalid_argument if there are fewer slots than nodes.
[[nodiscard]] std::vector<std::uint32_t> place_nodes(Placement placement, std::uint32_t nodes,
                                                     std::uint32_t racks,
                                                     std::uint32_t hosts_per_rack,
                                                     std::uint64_t seed);

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
  // The leaf of `group` with the link to group `other`. A group numbers the other groups from its
  // successor on, 0 to groups - 2. Switch i of its group_size switches has the links to groups from
  // ceil(i (groups - 1) / group_size) on, so shares differ by at most one link.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t group, std::uint32_t other) const;
};

// Servers of GPUs, kept beside the graph for routes that need its structure. Nodes are numbered
// server by server. Every server has a switch with a link to each of its GPUs. If there are several
// servers, groups of GPUs share network interface cards (NICs); a NIC has a link to every GPU of
// its group and a link to the fabric switch. Order of switch vertices: the servers' switches, the
// NICs (server by server, group by group), the fabric.
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
  // Adds a link from a vertex to itself. Only folded systems (make_folded) have such links.
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
  // In port order, which is also the order in which tree algorithms try neighbours (MultiTree: Y
  // before X).
  [[nodiscard]] const std::vector<LinkId>& out_links(NodeId v) const { return out_[v.index()]; }
  [[nodiscard]] const std::vector<LinkId>& in_links(NodeId v) const { return in_[v.index()]; }
  [[nodiscard]] const std::optional<GridShape>& grid() const { return grid_; }
  [[nodiscard]] const std::optional<SwitchedShape>& switched() const { return switched_; }
  [[nodiscard]] const std::optional<ClusterShape>& cluster() const { return cluster_; }
  [[nodiscard]] const std::optional<DataCenterShape>& data_center() const { return data_center_; }
  [[nodiscard]] const std::optional<DimensionedShape>& dimensions() const { return dimensions_; }
  // True if one node stands for all nodes of a multi-dimensional system (make_folded).
  [[nodiscard]] bool is_folded() const { return dimensions_ && num_nodes_ == 1; }
  // Precondition: dimensions().
  [[nodiscard]] std::size_t dimension_of(LinkId id) const {
    const TopologyLink& l = link(id);
    return dimensions_->dimension_of_port(is_switch(l.from) ? l.in_port : l.out_port);
  }
  // True if this switch reduces and multicasts for a group of a multi-dimensional system
  // (in_network).
  [[nodiscard]] bool aggregates(NodeId v) const {
    return dimensions_ && is_switch(v) &&
           dimensions_->dimensions[dimension_of(out_links(v).front())].one_switch;
  }
  // Precondition for both: the network is switched and has a switch of this index.
  [[nodiscard]] NodeId leaf_switch(std::uint32_t leaf) const { return NodeId(num_nodes_ + leaf); }
  [[nodiscard]] NodeId spine_switch(std::uint32_t spine) const {
    return NodeId(num_nodes_ + switched_->leaves + spine);
  }
  // Preconditions: cluster(), and the index exists. nic() and fabric() also need several servers.
  [[nodiscard]] NodeId server_switch(std::uint32_t server) const {
    return NodeId(num_nodes_ + server);
  }
  [[nodiscard]] NodeId nic(std::uint32_t index) const {
    return NodeId(num_nodes_ + cluster_->servers + index);
  }
  [[nodiscard]] NodeId fabric() const { return nic(cluster_->nics()); }
  // Preconditions: data_center(), and the indices exist. core_switch() also needs several pods.
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
  std::optional<GridShape> grid_;
  std::optional<SwitchedShape> switched_;
  std::optional<ClusterShape> cluster_;
  std::optional<DataCenterShape> data_center_;
  std::optional<DimensionedShape> dimensions_;
};

// Torus or mesh of 1 to 3 dimensions {X, Y, Z}, each >= 1, at least 2 nodes. Ports in neighbour
// order: d and u (z-1, z+1), n and s (y-1, y+1), w and e (x-1, x+1). A torus dimension of size 2
// has two parallel links each way (one for each direction); a dimension of size 1 has no links.
[[nodiscard]] Topology make_torus(const std::vector<std::uint32_t>& dims, LinkSpec spec);
[[nodiscard]] Topology make_mesh(const std::vector<std::uint32_t>& dims, LinkSpec spec);

// Every node has a link to every other node. Port j of node v leads to node (v + j + 1) mod N, so a
// port has the same direction at every node. At least 2 nodes.
[[nodiscard]] Topology make_fully_connected(std::uint32_t nodes, LinkSpec spec);

// Switched networks (hw/topology/switched.cpp). A node has one link each way; nodes are numbered
// leaf by leaf. Names: nodes n_<i>, leaf switches sw_<i>, spines sp_<i>. A port has the name of the
// vertex to which it leads (n3, sw3, sp3; sw1_3 is the fourth of parallel links to sw_1). A leaf's
// ports lead to its nodes in order, then to switches in order. The functions throw
// std::invalid_argument if a parameter is out of range.
[[nodiscard]] Topology make_single_switch(std::uint32_t nodes, LinkSpec spec);
// Two switches of `nodes_per_switch` nodes each, and as many parallel links between the switches:
// one physical network of a DGX-2.
[[nodiscard]] Topology make_switch_pair(std::uint32_t nodes_per_switch, LinkSpec spec);
// A k-ary 2-level fat tree has nodes_per_switch = switches = spines = k. Other values are allowed.
[[nodiscard]] Topology make_fat_tree(std::uint32_t nodes_per_switch, std::uint32_t switches,
                                     std::uint32_t spines, LinkSpec spec);
// EFLOPS's BiGraph. `switches` is even; half of them are on either side. MultiTree's 4x8 network
// has 4 nodes on each of 8 switches.
[[nodiscard]] Topology make_bigraph(std::uint32_t nodes_per_switch, std::uint32_t switches,
                                    LinkSpec spec);
// Canonical dragonfly: `groups` groups of `group_size` switches with `nodes_per_switch` nodes each.
// Every pair of groups has one link each way. The links are spread evenly over a group's switches.
[[nodiscard]] Topology make_dragonfly(std::uint32_t nodes_per_switch, std::uint32_t group_size,
                                      std::uint32_t groups, LinkSpec spec);

// Servers of GPUs (hw/topology/switched.cpp). `server_link` connects a GPU and its server's switch;
// `nic_link` connects GPU and NIC, and NIC and fabric. Names: GPUs n_<i>, servers' switches
// nvs_<i>, NICs nic_<i>, fabric ib; ports as in switched networks. A GPU's ports lead to its
// server's switch, then to its group's NICs. A NIC's ports lead to its GPUs, then to the fabric.
// Throws std::invalid_argument if a count is 0, if groups do not divide a server, or if there are
// fewer than 2 GPUs.
[[nodiscard]] Topology make_gpu_cluster(const ClusterShape& shape, LinkSpec server_link,
                                        LinkSpec nic_link);

// A hierarchical data centre (hw/topology/data_center.cpp). Names: nodes n_<i>, ToRs tor_<rack>,
// aggregation switches agg_<pod>_<i>, cores core_<i>; ports as in switched networks. Order of
// ports: a ToR's nodes, then its uplinks; an aggregation switch's links to racks, then its uplinks;
// a core's links pod by pod. Throws std::invalid_argument if the shape violates the comments on
// DataCenterShape.
[[nodiscard]] Topology make_data_center(const DataCenterShape& shape, const DataCenterLinks& links);

// A multi-dimensional system (hw/topology/dimensioned.cpp). Nodes are named r_<x1>_<x2>_... In
// dimension d (counted from 1), the switch of plane p is named sw_<d>_<p>_<coordinates of its nodes
// without the d-th>. Links are numbered as described at DimensionedShape. A node's ports are named
// d<d>_<i>, where i starts from 0 in each dimension. A switch's port is named n<x> after the
// coordinate of its node, or n<x>_<i> if one switch has all links of its NPUs. Throws
// std::invalid_argument if there is no dimension, if a dimension has fewer than 2 NPUs, or if its
// shape does not permit its number of links.
[[nodiscard]] Topology make_dimensions(const std::vector<DimensionSpec>& dimensions);
// The same system with its first node only, for runs in which all nodes do the same. The links of
// the node lead back to itself; links to a switch lead over a switch that serves no other node.
// dimensions() keeps the real sizes.
[[nodiscard]] Topology make_folded(const std::vector<DimensionSpec>& dimensions);

// The network without some vertices and links, by id; links of a lost vertex are lost too. It has
// its own name. What is left keeps its names and order, but no shape (grid, cluster, ...): it is
// irregular. It may fall apart; find_disconnected() says so.
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
