// The places of vertices and links of a topology in a picture.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier::report {

struct Place {
  double x = 0;
  double y = 0;
};

// Networks with positions, and grids, are drawn by them, with the layers of a third dimension side
// by side. Other families of networks are drawn in rows (NetworkShape::picture). All other networks
// are laid out by springs, or in a circle.
class TopologyLayout {
 public:
  // Precondition: the topology is not a multi-dimensional system.
  TopologyLayout(const Topology& topology, double width);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] Place place(NodeId vertex) const { return places_[vertex.index()]; }
  // The radius around a place that no other vertex needs.
  [[nodiscard]] double room() const { return room_; }
  // Whether a link around a torus, or to another layer, is drawn as two ends.
  [[nodiscard]] bool has_ends() const { return has_ends_; }
  // SVG path data from vertex to vertex. The line is shifted by `aside` to the right of the
  // straight line, so that both directions are visible; parallel links are shifted further. A link
  // around a torus or to another layer is drawn as its two ends only, and one whose straight line
  // would pass another vertex as an arc.
  [[nodiscard]] std::string link(LinkId id, double aside) const;
  [[nodiscard]] std::string all_links() const;
  [[nodiscard]] std::string route(const RouteSet& routes, RouteId route) const;
  // Radius of a vertex that has its number inside.
  [[nodiscard]] double tree_radius() const { return std::clamp(room_ * 0.52, 2.0, 15.0); }

 private:
  void lay_out_positions(const std::vector<Position>& at);
  void lay_out_rows(const std::vector<PictureRow>& rows);
  void lay_out_circle();
  void lay_out_springs();
  void find_parallel_links();
  // True for a link to another layer, or around a grid; sets its direction.
  [[nodiscard]] bool is_drawn_as_ends(LinkId id, Place& direction) const;
  // Whether the straight line between two vertices with positions passes another one.
  [[nodiscard]] bool passes_vertex(const TopologyLink& link) const;

  const Topology& topology_;
  double width_;
  double height_ = 0;
  double room_ = 0;
  double step_ = 0;  // the least distance of two vertices with positions
  bool has_ends_ = false;
  std::vector<Place> places_;
  // By LinkId, the number of earlier links between the same vertices.
  std::vector<std::uint32_t> parallel_;
};

// The name of a vertex beside its place.
struct MapLabel {
  NodeId vertex;
  std::string words;
  double left = 0;
  double line = 0;  // the base line
  double width = 0;
};
inline constexpr double kMapLabelHeight = 13;

// The labels of a map whose vertices have this size. Labels overlap neither each other nor a
// vertex; a vertex without room beside it has none. Maps of many vertices, and grids, have no
// labels.
[[nodiscard]] std::vector<MapLabel> map_labels(const Topology& topology,
                                               const TopologyLayout& layout, double vertex_size);

}  // namespace espalier::report
