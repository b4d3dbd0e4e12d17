#include "alg/generators/node_routes.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

RouteId NodeRoutes::between(NodeId from, NodeId to) {
  if (topology_.shape().split != 1) return routes_.add(topology_, turns_.next(from, to));
  RouteId& route = known_[from.index() * topology_.num_nodes() + to.index()];
  if (!route.valid()) route = routes_.add(topology_, turns_.next(from, to));
  return route;
}

std::size_t messages_per_step(const Topology& topology) {
  std::size_t fewest = topology.num_nodes() - 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    fewest = std::min(
        {fewest, topology.out_links(NodeId(n)).size(), topology.in_links(NodeId(n)).size()});
  }
  return fewest;
}

std::string unsuited_for_routes(const Topology& topology) {
  if (topology.num_nodes() < 2) return "A collective needs at least two nodes";
  const NodeId cut_off = topology.find_disconnected();
  if (cut_off.valid()) {
    return fmt::format(
        "A collective needs a connected network; '{}' cannot reach every node or be reached from "
        "it",
        topology.vertex_name(cut_off));
  }
  for (const TopologyLink& link : topology.links()) {
    if (!topology.link_between(link.to, link.from).valid()) {
      return fmt::format("Routes need links in both directions; '{}' to '{}' has no link back",
                         topology.vertex_name(link.from), topology.vertex_name(link.to));
    }
  }
  return {};
}

void BlockExchange::send(NodeId from, NodeId to, const std::vector<std::size_t>& chunks,
                         TransferKind kind) {
  for (std::size_t begin = 0; begin < chunks.size();) {
    std::size_t end = begin + 1;
    while (end < chunks.size() && chunks[end] == chunks[end - 1] + 1) ++end;
    send_run(from, to, {chunks[begin], chunks[end - 1] + 1}, kind);
    begin = end;
  }
}

void BlockExchange::end_exchange() {
  for (const auto& [node, transfer] : arriving_) arrived_[node.index()].push_back(transfer);
  arriving_.clear();
}

void BlockExchange::send_run(NodeId from, NodeId to, const Run& run, TransferKind kind) {
  const Chunk& last = schedule_.chunks[run.end - 1];
  if (last.offset + last.size == schedule_.chunks[run.begin].offset) return;
  const Transfer transfer{from,
                          to,
                          FlowId(next_flow_++),
                          ChunkId(run.begin),
                          static_cast<std::uint32_t>(run.end - run.begin),
                          routes_.between(from, to),
                          schedule_.num_steps,
                          kind};
  arriving_.emplace_back(to, schedule_.add(transfer, waits_for(from, run)));
}

std::vector<TransferId> BlockExchange::waits_for(NodeId node, const Run& run) const {
  std::vector<TransferId> waits;
  for (const TransferId id : arrived_[node.index()]) {
    const Transfer& t = schedule_.transfers[id.index()];
    const std::size_t first = t.first_chunk.index();
    if (first < run.end && run.begin < first + t.num_chunks) waits.push_back(id);
  }
  return waits;
}

}  // namespace espalier
