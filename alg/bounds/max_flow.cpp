#include "alg/bounds/max_flow.h"

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <functional>

namespace espalier {

std::size_t FlowNetwork::add_arc(std::size_t from, std::size_t to) {
  const EdgeRef there = boost::add_edge(from, to, graph_).first;
  const EdgeRef back = boost::add_edge(to, from, graph_).first;
  graph_[there].reverse = back;
  graph_[back].reverse = there;
  arcs_.push_back(there);
  return arcs_.size() - 1;
}

FlowAmount FlowNetwork::min_cut(std::size_t source, std::size_t sink) {
  const auto index = boost::get(boost::vertex_index, graph_);
  FlowAmount flow = boost::push_relabel_max_flow(
      graph_, source, sink, boost::get(&Arc::capacity, graph_), boost::get(&Arc::residual, graph_),
      boost::get(&Arc::reverse, graph_), index);
  const auto has_capacity_left = [this](const EdgeRef& arc) { return graph_[arc].residual > 0; };
  const boost::filtered_graph<Graph, std::function<bool(const EdgeRef&)>> residual_graph(
      graph_, has_capacity_left);
  reached_.assign(boost::num_vertices(graph_), boost::white_color);
  boost::breadth_first_search(
      residual_graph, source,
      boost::color_map(boost::make_iterator_property_map(reached_.begin(), index)));
  return flow;
}

}  // namespace espalier
