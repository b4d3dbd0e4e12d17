// Where vertices and links of a topology stand in a picture.
#pragma once

#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/report/plot/svg.h"

namespace espalier::report {

struct Place {
  double x = 0;
  double y = 0;
};

// Grids as they are, planes of three-dimensional ones side by side; networks with switches in
// layers, nodes below (of a GPU cluster above their servers' switches); anything else on a circle.
class TopologyLayout {
 public:
  // In a picture of that width. Precondition: no multi-dimensional system.
  TopologyLayout(const Topology& topology, double width);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] Place place(NodeId vertex) const { return places_[vertex.index()]; }
  // Half of the least distance of two vertices, or less: what may be drawn around a place.
  [[nodiscard]] double room() const { return room_; }
  // As SVG path data, from vertex to vertex, `aside` to the right of the straight line so that both
  // directions are seen. A link around a torus is drawn as its two ends. Links to the left of
  // parallel ones stand further aside.
  [[nodiscard]] std::string link(LinkId id, double aside) const;

 private:
  void lay_out_grid(const GridShape& grid);
  void lay_out_layers(const SwitchedShape& shape);
  void lay_out_cluster(const ClusterShape& shape);
  void lay_out_center(const DataCenterShape& shape);
  void lay_out_circle();
  void find_parallel_links();
  // Of a grid's link that does not lead to the neighbour in the picture: the way it points.
  [[nodiscard]] bool is_drawn_as_ends(const TopologyLink& link, Place& direction) const;

  const Topology& topology_;
  double width_;
  double height_ = 0;
  double room_ = 0;
  double step_ = 0;  // of a grid
  std::vector<Place> places_;
  std::vector<std::uint32_t> parallel_;  // by LinkId: how many before it join the same vertices
};

}  // namespace espalier::report
