// DIRECT (all-pairs): every node sends chunk i straight to node i, which reduces it, and every node
// sends its result straight to all others. Nothing is forwarded, so a phase has no dependencies and
// pays the latency once.
//
// The order is the cyclic shift: with its t-th message of a phase, node i sends to node i + t. On a
// two-level fat-tree with as many spines as nodes per leaf, whose routes choose the spine by the
// destination, every such shift is free of contention.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "alg/generator.h"
#include "alg/node_routes.h"
#include "alg/ring_line.h"

namespace espalier {
namespace {

// Every root's Gathers wait for all Reduces that it receives: N^3 waits in all.
constexpr std::size_t kMostNodes = 256;

// As many messages a step as every node can send and receive at once.
std::size_t messages_per_step(const Topology& topology) {
  std::size_t fewest = topology.num_nodes() - 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    fewest = std::min(
        {fewest, topology.out_links(NodeId(n)).size(), topology.in_links(NodeId(n)).size()});
  }
  return fewest;
}

}  // namespace

std::string unsuited_for_direct(const Topology& topology) {
  if (topology.num_nodes() > kMostNodes) {
    return fmt::format(
        "Between {} nodes the direct algorithm has too many messages; it runs on up "
        "to {}.",
        topology.num_nodes(), kMostNodes);
  }
  return unsuited_for_routes(topology);
}

Schedule generate_direct(const Topology& topology, const CollectiveRequest& request) {
  const std::size_t nodes = topology.num_nodes();
  const std::size_t per_step = messages_per_step(topology);
  const auto phase_steps = static_cast<Timestep>((nodes - 1 + per_step - 1) / per_step);
  const bool reduces = request.op != CollectiveOp::all_gather;
  const bool gathers = request.op != CollectiveOp::reduce_scatter;

  Schedule schedule(topology);
  schedule.algorithm = "direct";
  schedule.op = request.op;
  schedule.num_nodes = nodes;
  schedule.size = request.size;
  schedule.num_steps = phase_steps * (reduces && gathers ? 2 : 1);
  schedule.ni_ports = static_cast<std::uint32_t>(per_step);
  const auto offsets = cut_evenly(request.size, nodes, request.element_bytes);
  for (std::size_t n = 0; n < nodes; ++n) {
    schedule.chunks.push_back({offsets[n], offsets[n + 1] - offsets[n], NodeId(n)});
  }

  NodeRoutes routes(topology, schedule.routes);
  std::vector<std::vector<TransferId>> reduced(nodes);  // what arrived at the chunk's owner
  const auto add_phase = [&](TransferKind kind, Timestep steps_before) {
    for (std::size_t shift = 1; shift < nodes; ++shift) {
      for (std::size_t n = 0; n < nodes; ++n) {
        const NodeId from(n);
        const NodeId to((n + shift) % nodes);
        const NodeId owner = kind == TransferKind::reduce ? to : from;
        if (schedule.chunks[owner.index()].size == 0) continue;
        const auto step = static_cast<Timestep>(steps_before + 1 + (shift - 1) / per_step);
        const Transfer transfer{
            from, to,  FlowId(owner.index()), ChunkId(owner.index()), 1, routes.between(from, to),
            step, kind};
        if (kind == TransferKind::reduce) {
          reduced[owner.index()].push_back(schedule.add(transfer, {}));
        } else {
          schedule.add(transfer, reduced[owner.index()]);
        }
      }
    }
  };
  if (reduces) add_phase(TransferKind::reduce, 0);
  if (gathers) add_phase(TransferKind::copy, reduces ? phase_steps : 0);
  schedule.sort_by_step();
  schedule.contention_free = is_contention_free(schedule);
  return schedule;
}

}  // namespace espalier
