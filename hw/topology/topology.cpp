#include "hw/topology/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace espalier {

NodeId Topology::add_vertex(const std::string& vertex_name) {
  const NodeId id(vertex_names_.size());
  if (!vertex_by_name_.emplace(vertex_name, id).second) {
    throw std::invalid_argument(fmt::format("two vertices are named '{}'", vertex_name));
  }
  vertex_names_.push_back(vertex_name);
  out_.emplace_back();
  in_.emplace_back();
  return id;
}

NodeId Topology::add_node(const std::string& vertex_name) {
  if (num_switches() != 0) throw std::invalid_argument("nodes must be added before switches");
  const NodeId node = add_vertex(vertex_name);
  ++num_nodes_;
  return node;
}

NodeId Topology::add_switch(const std::string& vertex_name) { return add_vertex(vertex_name); }

bool Topology::take_port_name(const std::vector<LinkId>& links, std::string TopologyLink::*side,
                              PortNames& crowded, NodeId vertex, const std::string& port_name) {
  constexpr std::size_t kCrowded = 32;
  if (links.size() < kCrowded) {
    return std::none_of(links.begin(), links.end(),
                        [&](LinkId other) { return links_[other.index()].*side == port_name; });
  }
  auto& names = crowded[vertex];
  if (names.empty()) {
    for (const LinkId other : links) names.insert(links_[other.index()].*side);
  }
  return names.insert(port_name).second;
}

LinkId Topology::add_link(NodeId from, NodeId to, LinkSpec spec, const std::string& out_name,
                          const std::string& in_name) {
  if (from.index() >= num_vertices() || to.index() >= num_vertices()) {
    throw std::invalid_argument("a link names an unknown vertex");
  }
  if (from == to) {
    throw std::invalid_argument(
        fmt::format("a link joins '{}' to itself; it must join two vertices", vertex_name(from)));
  }
  return connect(from, to, spec, out_name, in_name);
}

LinkId Topology::add_loop(NodeId vertex, LinkSpec spec, const std::string& out_name,
                          const std::string& in_name) {
  return connect(vertex, vertex, spec, out_name, in_name);
}

LinkId Topology::connect(NodeId from, NodeId to, LinkSpec spec, const std::string& out_name,
                         const std::string& in_name) {
  if (!take_port_name(out_links(from), &TopologyLink::out_name, crowded_out_, from, out_name)) {
    throw std::invalid_argument(
        fmt::format("'{}' has two outputs named '{}'", vertex_name(from), out_name));
  }
  if (!take_port_name(in_links(to), &TopologyLink::in_name, crowded_in_, to, in_name)) {
    throw std::invalid_argument(
        fmt::format("'{}' has two inputs named '{}'", vertex_name(to), in_name));
  }
  const LinkId id(links_.size());
  links_.push_back({from, to, static_cast<std::uint32_t>(out_links(from).size()),
                    static_cast<std::uint32_t>(in_links(to).size()), out_name, in_name, spec});
  out_[from.index()].push_back(id);
  in_[to.index()].push_back(id);
  return id;
}

NodeId Topology::find_vertex(const std::string& vertex_name) const {
  const auto found = vertex_by_name_.find(vertex_name);
  return found == vertex_by_name_.end() ? NodeId() : found->second;
}

LinkId Topology::link_between(NodeId from, NodeId to) const {
  // Parallel links have one order at both ends. A switch may have thousands of ports.
  const bool from_few = out_links(from).size() <= in_links(to).size();
  for (const LinkId id : from_few ? out_links(from) : in_links(to)) {
    if (link(id).from == from && link(id).to == to) return id;
  }
  return {};
}

NodeId Topology::find_disconnected() const {
  const auto unreached = [&](bool forward) -> NodeId {
    std::vector<bool> seen(num_vertices(), false);
    std::vector<NodeId> frontier{NodeId(0)};
    seen[0] = true;
    while (!frontier.empty()) {
      const NodeId v = frontier.back();
      frontier.pop_back();
      for (const LinkId id : forward ? out_links(v) : in_links(v)) {
        const NodeId next = forward ? link(id).to : link(id).from;
        if (!seen[next.index()]) {
          seen[next.index()] = true;
          frontier.push_back(next);
        }
      }
    }
    const auto missing = std::find(seen.begin(), seen.end(), false);
    return missing == seen.end() ? NodeId()
                                 : NodeId(static_cast<std::size_t>(missing - seen.begin()));
  };
  if (num_vertices() == 0) return {};
  const NodeId forward = unreached(true);
  return forward.valid() ? forward : unreached(false);
}

std::string port_to(const Topology& topology, NodeId vertex) {
  std::string name = topology.vertex_name(vertex);
  name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
  return name;
}

void add_cable(Topology& topology, NodeId a, NodeId b, LinkSpec spec, const std::string& suffix) {
  const std::string at_a = port_to(topology, b) + suffix;
  const std::string at_b = port_to(topology, a) + suffix;
  topology.add_link(a, b, spec, at_a, at_b);
  topology.add_link(b, a, spec, at_b, at_a);
}

Topology without_parts(const Topology& topology, const std::string& name,
                       const std::vector<bool>& lost_vertices,
                       const std::vector<bool>& lost_links) {
  Topology rest(name);
  NetworkShape shape;
  std::vector<NodeId> kept(topology.num_vertices());
  for (std::size_t v = 0; v < kept.size(); ++v) {
    if (lost_vertices[v]) continue;
    if (!topology.shape().at.empty()) {
      shape.at.push_back(topology.shape().at[v]);
    } else if (topology.grid()) {
      shape.at.push_back(topology.grid()->position(NodeId(v)));
    }
    const std::string& vertex = topology.vertex_name(NodeId(v));
    kept[v] = topology.is_switch(NodeId(v)) ? rest.add_switch(vertex) : rest.add_node(vertex);
  }
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    const TopologyLink& link = topology.link(LinkId(l));
    const NodeId from = kept[link.from.index()];
    const NodeId to = kept[link.to.index()];
    if (lost_links[l] || !from.valid() || !to.valid()) continue;
    rest.add_link(from, to, link.spec, link.out_name, link.in_name);
  }
  rest.set_shape(std::move(shape));
  return rest;
}

}  // namespace espalier
