// Minimum cuts between two vertices of a network. Exact: Boost.Graph with wide integers.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <vector>

namespace espalier {

// Wide enough for exact products of rates in bytes per second and the two sides of a ratio.
using FlowAmount = boost::multiprecision::int128_t;

// A network with fixed arcs, whose capacities may be changed before every cut.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t vertices) : graph_(vertices) {}

  // Returns the number of the arc, for set_capacity.
  std::size_t add_arc(std::size_t from, std::size_t to);
  void set_capacity(std::size_t arc, const FlowAmount& capacity) {
    graph_[arcs_[arc]].capacity = capacity;
  }

  // Capacity of the minimum cut that separates sink from source. Precondition: they differ.
  FlowAmount min_cut(std::size_t source, std::size_t sink);
  // Side of the vertex in the last cut, which is the minimum cut with the smallest source side.
  [[nodiscard]] bool on_source_side(std::size_t vertex) const {
    return reached_[vertex] == boost::black_color;
  }

 private:
  // bidirectionalS keeps all edges in one list: the algorithm visits every edge for each cut.
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::bidirectionalS>;
  using EdgeRef = Traits::edge_descriptor;
  struct Arc {
    FlowAmount capacity = 0;
    FlowAmount residual = 0;
    EdgeRef reverse;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                      boost::no_property, Arc>;

  Graph graph_;
  std::vector<EdgeRef> arcs_;
  // Reachable from the source over remaining capacity.
  std::vector<boost::default_color_type> reached_;
};

}  // namespace espalier
