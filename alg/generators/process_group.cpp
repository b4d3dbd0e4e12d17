#include "alg/generators/process_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

// The group's nodes, then every other vertex.
std::vector<NodeId> vertices_of_group(const Topology& whole, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> vertices = nodes;
  std::vector<bool> listed(whole.num_vertices(), false);
  for (const NodeId node : nodes) listed[node.index()] = true;
  for (std::size_t v = 0; v < listed.size(); ++v) {
    if (!listed[v]) vertices.emplace_back(v);
  }
  return vertices;
}

Topology network_of_group(const Topology& whole, const std::vector<NodeId>& nodes,
                          const std::vector<NodeId>& vertices) {
  Topology group(
      fmt::format("{} of {} nodes of {}", nodes.size(), whole.num_nodes(), whole.name()));
  std::vector<NodeId> vertex(whole.num_vertices());
  NetworkShape shape;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const std::string& name = whole.vertex_name(vertices[v]);
    shape.outside.push_back(v >= nodes.size() && !whole.is_switch(vertices[v]));
    vertex[vertices[v].index()] = v < nodes.size() ? group.add_node(name) : group.add_switch(name);
  }
  for (const TopologyLink& link : whole.links()) {
    group.add_link(vertex[link.from.index()], vertex[link.to.index()], link.spec, link.out_name,
                   link.in_name);
  }
  group.set_shape(std::move(shape));
  return group;
}

}  // namespace

ProcessGroup::ProcessGroup(const Topology& whole, const std::vector<NodeId>& nodes)
    : whole_(whole),
      nodes_(nodes),
      whole_vertex_(vertices_of_group(whole, nodes)),
      group_(nodes.empty() ? Topology("") : network_of_group(whole, nodes, whole_vertex_)) {}

std::vector<bool> ProcessGroup::relays() const {
  if (nodes_.empty()) return std::vector<bool>(whole_.num_vertices(), false);
  return group_.shape().outside;
}

Scope ProcessGroup::in_whole(const Scope& scope) const {
  if (nodes_.empty()) return scope;
  Scope whole;
  if (scope.root.valid()) whole.root = whole_node(scope.root);
  whole.members = nodes_;
  std::sort(whole.members.begin(), whole.members.end());
  if (scope.counts.empty()) return whole;
  whole.counts.resize(whole_.num_nodes() * whole_.num_nodes(), 0);
  for (std::size_t pair = 0; pair < scope.counts.size(); ++pair) {
    const NodeId from = nodes_[pair / nodes_.size()];
    const NodeId to = nodes_[pair % nodes_.size()];
    whole.counts[from.index() * whole_.num_nodes() + to.index()] = scope.counts[pair];
  }
  return whole;
}

Schedule ProcessGroup::in_whole(Schedule schedule) const {
  if (nodes_.empty()) return schedule;
  schedule.scope = in_whole(schedule.scope);
  schedule.num_nodes = whole_.num_nodes();
  for (Chunk& chunk : schedule.chunks) {
    if (chunk.owner.valid()) chunk.owner = whole_node(chunk.owner);
    if (chunk.destination.valid()) chunk.destination = whole_node(chunk.destination);
  }
  for (Transfer& transfer : schedule.transfers) {
    transfer.from = whole_node(transfer.from);
    transfer.to = whole_node(transfer.to);
  }
  return schedule;
}

}  // namespace espalier
