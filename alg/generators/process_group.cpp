#include "alg/generators/process_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "alg/certify/channel_dependencies.h"
#include "alg/routes/links.h"
#include "alg/routes/routing.h"
#include "alg/time/schedule_time.h"

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
                          const std::vector<NodeId>& vertices, bool ring_as_listed) {
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
  shape.near_by_number = ring_as_listed;
  if (ring_as_listed || whole.shape().route) {
    shape.vc_classes = whole.shape().vc_classes;
    shape.split = whole.shape().split;
    shape.route = [&whole, vertices](const Topology&, NodeId from, NodeId to,
                                     std::uint32_t channel) {
      return route_packet(whole, vertices[from.index()], vertices[to.index()], channel);
    };
    shape.classes = [&whole](const Topology&, const std::vector<LinkId>& route) {
      return std::optional(vc_classes_of(whole, route));
    };
  }
  group.set_shape(std::move(shape));
  return group;
}

}  // namespace

ProcessGroup::ProcessGroup(const Topology& whole, const std::vector<NodeId>& nodes,
                           bool ring_as_listed)
    : whole_(whole),
      nodes_(nodes),
      whole_vertex_(vertices_of_group(whole, nodes)),
      group_(nodes.empty() ? Topology("")
                           : network_of_group(whole, nodes, whole_vertex_, ring_as_listed)) {}

std::vector<bool> ProcessGroup::relays() const {
  if (nodes_.empty()) return std::vector<bool>(whole_.num_vertices(), false);
  return group_.shape().outside;
}

Scope ProcessGroup::in_whole(const Scope& scope) const {
  if (nodes_.empty()) return scope;
  Scope whole;
  if (scope.root.valid()) whole.root = whole_node(scope.root);
  whole.groups = scope.groups;
  if (whole.groups.empty()) {
    whole.groups.push_back({nodes_});
  } else {
    for (RankGroup& group : whole.groups) {
      for (NodeId& node : group.members) node = whole_node(node);
    }
  }
  for (RankGroup& group : whole.groups) std::sort(group.members.begin(), group.members.end());
  if (scope.counts.empty()) return whole;
  // By pair of nodes, or by node.
  const bool pairs = scope.counts.size() != nodes_.size();
  whole.counts.resize(pairs ? whole_.num_nodes() * whole_.num_nodes() : whole_.num_nodes(), 0);
  for (std::size_t c = 0; c < scope.counts.size(); ++c) {
    const std::size_t row = pairs ? nodes_[c / nodes_.size()].index() * whole_.num_nodes() : 0;
    whole.counts[row + nodes_[c % nodes_.size()].index()] = scope.counts[c];
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

namespace {

// One group's part of the request, on the group's network.
CollectiveRequest request_of(const CollectiveRequest& request, std::size_t group) {
  CollectiveRequest alone = request;
  alone.size = request.groups[group].size;
  alone.groups.clear();
  alone.relays.clear();
  return alone;
}

// Appends schedules of several groups, and remembers when their messages are planned to start.
class Merging {
 public:
  Merging(const char* algorithm, const Topology& topology, const CollectiveRequest& request)
      : topology_(topology),
        timing_(request.timing),
        merged_(empty_schedule(algorithm, topology, request)) {
    merged_.listed_order = true;
    merged_.ni_ports = 0;
  }

  void add(const Schedule& part, std::uint32_t group) {
    if (part.symmetry) {
      throw std::invalid_argument(part.algorithm + " has one table for all nodes, not for groups");
    }
    std::vector<std::uint64_t> start(part.transfers.size(), 0);
    for (const LinkUse& use : planned_link_uses(topology_, part, timing_)) {
      std::uint64_t& first = start[use.transfer.index()];
      first = first == 0 ? use.start_ps + 1 : std::min(first, use.start_ps + 1);
    }
    start_.insert(start_.end(), start.begin(), start.end());
    const std::size_t chunks = merged_.chunks.size();
    const std::size_t transfers = merged_.transfers.size();
    const std::size_t flows = next_flow_;
    for (Chunk chunk : part.chunks) {
      chunk.offset += covered_;
      chunk.group = group;
      merged_.chunks.push_back(chunk);
    }
    for (const Chunk& chunk : part.chunks) covered_ += chunk.size;
    std::vector<TransferId> after;
    for (std::size_t t = 0; t < part.transfers.size(); ++t) {
      Transfer transfer = part.transfers[t];
      const auto links = part.routes.links(transfer.route);
      transfer.route = part.routes.hops(transfer.route) == 1
                           ? RouteSet::single(*links.begin())
                           : merged_.routes.add(topology_, {links.begin(), links.end()});
      transfer.first_chunk = ChunkId(transfer.first_chunk.index() + chunks);
      transfer.flow = FlowId(transfer.flow.index() + flows);
      next_flow_ = std::max(next_flow_, transfer.flow.index() + 1);
      after.clear();
      for (const TransferId d : part.dependencies_of(TransferId(t))) {
        after.emplace_back(d.index() + transfers);
      }
      merged_.add(transfer, after);
    }
    merged_.num_steps = std::max(merged_.num_steps, part.num_steps);
    merged_.listed_order &= part.listed_order;
    merged_.ni_ports += part.ni_ports;
  }

  // Sorted by step, and within a step by planned start. Throws std::invalid_argument if routes of
  // several groups wait for each other in a circle; each group's alone do not.
  Schedule finish() {
    ChannelDependencies waits(topology_, topology_.shape().vc_classes.all);
    for (std::size_t r = 0; r < merged_.routes.size(); ++r) waits.add(merged_.routes, RouteId(r));
    if (!waits.cycle(1).empty()) {
      throw std::invalid_argument(merged_.algorithm +
                                  " plans each group alone, and messages of several groups could "
                                  "then wait for each other in a circle");
    }
    std::vector<std::uint32_t> order(merged_.transfers.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(merged_.transfers[a].step, start_[a]) <
             std::tie(merged_.transfers[b].step, start_[b]);
    });
    std::vector<TransferId> renamed(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) renamed[order[i]] = TransferId(i);
    const Schedule before = std::move(merged_);
    merged_ = before;
    merged_.transfers.clear();
    merged_.dependencies.clear();
    merged_.dependency_begin = {0};
    std::vector<TransferId> after;
    for (const std::uint32_t t : order) {
      after.clear();
      for (const TransferId d : before.dependencies_of(TransferId(t))) {
        after.push_back(renamed[d.index()]);
      }
      merged_.add(before.transfers[t], after);
    }
    merged_.ni_ports = std::min(merged_.ni_ports, most_links_of_a_node(topology_));
    merged_.contention_free = is_contention_free(merged_);
    return std::move(merged_);
  }

 private:
  const Topology& topology_;
  const MessageTiming& timing_;
  Schedule merged_;
  std::vector<std::uint64_t> start_;  // by transfer, one more
  Bytes covered_ = 0;
  std::size_t next_flow_ = 0;
};

}  // namespace

std::string unsuited_for(const Generator& generator, const Topology& topology,
                         const CollectiveRequest& request) {
  const auto why_not = [&](const Topology& network, const CollectiveRequest& asked) {
    std::string why = generator.unsuited(network);
    if (why.empty() && generator.too_large) why = generator.too_large(network, asked.op);
    if (!why.empty() || generator.problem == nullptr) return why;
    const auto problem = generator.problem(network, asked);
    return problem ? problem->reason : why;
  };
  if (request.groups.empty() || generator.plans_groups) return why_not(topology, request);
  std::string why;
  for (std::size_t g = 0; g < request.groups.size() && why.empty(); ++g) {
    const ProcessGroup group(topology, request.groups[g].members);
    why = why_not(group.network(), request_of(request, g));
  }
  return why;
}

Schedule generate(const Generator& generator, const Topology& topology,
                  const CollectiveRequest& request) {
  if (request.groups.empty() || generator.plans_groups)
    return generator.generate(topology, request);
  Merging merging(generator.name.c_str(), topology, request);
  for (std::uint32_t g = 0; g < request.groups.size(); ++g) {
    const ProcessGroup group(topology, request.groups[g].members);
    merging.add(group.in_whole(generator.generate(group.network(), request_of(request, g))), g);
  }
  return merging.finish();
}

}  // namespace espalier
