// What is known of a network beside its graph. The family that builds a network fills this in
// (hw/topology/families); an irregular network has the defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/ids.h"
#include "hw/link_spec.h"
#include "hw/topology/dimensions.h"

namespace espalier {

class Topology;

// Where a vertex stands in pictures: x to the right, y down; those of one z are a layer.
struct Position {
  double x = 0;
  double y = 0;
  double z = 0;
};

// A regular grid, for algorithms that need coordinates.
// Place = x + X * (y + Y * z); dims = {X, Y, Z}, as written in the configuration. The rates and
// latencies of a dimension are those of its links.
struct GridShape {
  GridShape() = default;
  GridShape(std::vector<std::uint32_t> sizes, bool all_wrap)
      : dims(std::move(sizes)), wraps(dims.size(), all_wrap), links(dims.size(), 1) {}

  std::vector<std::uint32_t> dims;
  std::vector<bool> wraps;  // by dimension: its lines have links around
  // By dimension: the number of parallel links from a node to its neighbour in one direction.
  std::vector<std::uint32_t> links;
  // Where links around lead: at x = X - 1 to x = 0 and so many places further in other dimensions,
  // {X in Y, X in Z, Y in Z}, or {X in Y} if there is no Z. Empty: in none.
  std::vector<std::uint32_t> twist;
  // By place: its node, and by node: its place. Both empty: node i is at place i.
  std::vector<std::uint32_t> node_of_place;
  std::vector<std::uint32_t> place_of_node;

  [[nodiscard]] std::vector<std::uint32_t> coordinates(NodeId node) const;
  [[nodiscard]] Position position(NodeId node) const;
  [[nodiscard]] NodeId node_at(const std::vector<std::uint32_t>& coordinates) const;
  // The node that hops in each dimension lead to, in any order; negative: towards smaller
  // coordinates. Precondition: no line without links around is left.
  [[nodiscard]] NodeId node_after(NodeId node, const std::vector<std::int64_t>& hops) const;
  // An invalid id at the border of a line and in a dimension of size 1.
  [[nodiscard]] NodeId neighbour(NodeId node, std::size_t dim, bool plus) const;
  [[nodiscard]] std::uint32_t twist_of(std::size_t dim, std::size_t in) const {
    return twist.empty() || in <= dim ? 0 : twist[dim + in - 1];
  }
  // Whether the links around a line of this dimension lead back to the line.
  [[nodiscard]] bool closes(std::size_t dim) const;
  // Whether one node is the neighbour of another in both directions.
  [[nodiscard]] bool is_pair(std::size_t dim) const { return dims[dim] == 2 && closes(dim); }
};

struct GridHop {
  std::size_t dim = 0;
  bool plus = false;   // towards larger coordinates
  bool wraps = false;  // the wrap-around link of its ring
};

// Preconditions: the topology has a grid, and the link belongs to the grid.
[[nodiscard]] GridHop grid_hop(const Topology& topology, LinkId link);
// To GridShape::neighbour(): of parallel links, `lane` modulo their number.
[[nodiscard]] LinkId grid_link(const Topology& topology, NodeId from, std::size_t dim, bool plus,
                               std::uint32_t lane = 0);
// The ways from one node to another with the fewest hops: hops in each dimension, negative towards
// smaller coordinates. None passes links around twice in a dimension, so a message in dimension
// order meets one dateline there. Larger coordinates come first.
[[nodiscard]] std::vector<std::vector<std::int64_t>> shortest_ways(const GridShape& grid,
                                                                   NodeId from, NodeId to);

// Every switch is linked to all switches of the other side; the first half is the upper side. Node
// n is attached to switch n / nodes_per_switch.
struct TwoSides {
  std::uint32_t switches = 2;
  std::uint32_t nodes_per_switch = 1;
};

// Racks with hosts of other tenants behind them. The racks' switches are the first switches.
struct RackShape {
  std::uint32_t racks = 0;
  std::uint32_t uplinks = 1;  // of a rack
  LinkSpec uplink;
  // Bandwidth into a level divided by bandwidth out of it; 4 means "4 to 1". 0: the network has no
  // such level.
  double rack_oversubscription = 0;         // all hosts of a rack over the rack's uplinks
  double aggregation_oversubscription = 0;  // all racks of a pod over the pod's uplinks
};

// VC classes, which keep routes free of deadlock. 1: routes go up, then down.
struct VcClassNeed {
  std::uint32_t all = 1;    // most links between switches on a shortest route; torus: 2 (datelines)
  std::uint32_t least = 1;  // enough if all routes are the family's own
  // For errors, if `least` exceeds 1: "packets <where> need 2 VCs, one for <each>".
  const char* where = "";
  const char* each = "";
};

// Vertices side by side in a picture of the network. The picture has its rows from top to bottom.
struct PictureRow {
  std::vector<NodeId> vertices;
  double gap = 90;      // to the row above
  bool arched = false;  // in a straight row, links between neighbours would hide longer links
};

struct NetworkShape {
  std::optional<GridShape> grid;
  std::optional<DimensionedShape> dimensions;
  // Of a network whose routers pass messages from dimension to dimension (make_joined).
  std::optional<DimensionedShape> joined;
  std::optional<TwoSides> sides;
  RackShape racks;
  std::string recognised;  // of a graph from a file that is a network of a family: how it is one
  bool near_by_number = false;  // a ring over the nodes passes them by number
  VcClassNeed vc_classes;
  // The links from `from` to `to`, which are different nodes or racks' switches. Channels may have
  // different routes; packets take channel 0. Empty: the network has no routes of its own.
  std::function<std::vector<LinkId>(const Topology&, NodeId from, NodeId to, std::uint32_t channel)>
      route;
  // Messages of a pair take this many channels in turn.
  std::uint32_t split = 1;
  // For each hop of a route, the class of the VC that buffers a packet at its end; nothing for
  // routes that are not `route`'s. Empty: classes follow from the grid or from links between
  // switches.
  std::function<std::optional<std::vector<std::uint32_t>>(const Topology&,
                                                          const std::vector<LinkId>& route)>
      classes;
  // By vertex, counted from the roots at which paths turn; empty: the distance from vertex 0.
  std::vector<std::size_t> levels;
  // By vertex: the nodes outside of a process group, which its network has as switches
  // (alg/generators/process_group.h). Empty: none.
  std::vector<bool> outside;
  std::vector<PictureRow> picture;  // empty: the picture follows from the grid or from the links
  std::vector<Position> at;         // by vertex, before any other picture; empty: nobody gave them
};

}  // namespace espalier
