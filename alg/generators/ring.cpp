// RING and its bidirectional form: one closed walk over all nodes; CHAIN, which broadcasts along
// it. Also the two halves of a ring all-reduce on a ring of nodes, which every ring algorithm uses.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"
#include "alg/generators/rings.h"
#include "alg/packing/forest_task.h"
#include "alg/packing/round_plan.h"
#include "alg/routes/links.h"
#include "alg/routes/routing.h"

namespace espalier {

Transfer hop_of(const RingLine& line, const RingFlow& flow, std::size_t place, TransferKind kind,
                Timestep step) {
  Transfer transfer;
  transfer.from = line.nodes[place];
  transfer.to = line.nodes[(place + 1) % line.size()];
  transfer.flow = flow.flow;
  transfer.first_chunk = flow.first_chunk;
  transfer.num_chunks = flow.num_chunks;
  transfer.route = line.hops[place];
  transfer.step = step;
  transfer.kind = kind;
  return transfer;
}

RingLine reversed(const RingLine& line, const std::vector<RouteId>& hops_back) {
  RingLine result;
  // The last hop of the reversed ring starts at nodes[0], so both lines start at the same node.
  result.nodes.push_back(line.nodes.front());
  result.nodes.insert(result.nodes.end(), line.nodes.rbegin(), line.nodes.rend() - 1);
  result.hops.assign(hops_back.rbegin(), hops_back.rend());
  return result;
}

TransferId add_reduce_chain(Schedule& schedule, const RingLine& line, const RingFlow& flow,
                            Timestep first_step, const RingWaits& waits) {
  TransferId arrived;
  for (std::size_t hop = 1; hop < line.size(); ++hop) {
    const std::size_t place = (flow.root + hop) % line.size();
    // Every place adds its own data, so each place waits for its own data, not only the first one.
    auto after = waits[place];
    if (arrived.valid()) after.push_back(arrived);
    const auto step = static_cast<Timestep>(first_step + hop - 1);
    arrived = schedule.add(hop_of(line, flow, place, TransferKind::reduce, step), after);
  }
  return arrived;
}

std::vector<TransferId> add_gather_chain(Schedule& schedule, const RingLine& line,
                                         const RingFlow& flow, Timestep first_step,
                                         const std::vector<TransferId>& root_waits) {
  std::vector<TransferId> arrived(line.size());
  auto after = root_waits;
  for (std::size_t hop = 0; hop + 1 < line.size(); ++hop) {
    const std::size_t place = (flow.root + hop) % line.size();
    const auto step = static_cast<Timestep>(first_step + hop);
    const TransferId sent =
        schedule.add(hop_of(line, flow, place, TransferKind::copy, step), after);
    arrived[(place + 1) % line.size()] = sent;
    after = {sent};
  }
  return arrived;
}

namespace {

Schedule with_chunks(const char* name, std::uint32_t directions, const Topology& topology,
                     const CollectiveRequest& request) {
  const std::size_t nodes = topology.num_nodes();
  Schedule schedule = empty_schedule(name, topology, request);
  const std::size_t phases = request.op == CollectiveOp::all_reduce ? 2 : 1;
  schedule.num_steps = static_cast<Timestep>(phases * (nodes - 1));
  schedule.ni_ports = std::min(directions, most_links_of_a_node(topology));
  const auto offsets = directions == 1
                           ? request.part_offsets(nodes)
                           : cut_evenly(request.size, directions * nodes, request.element_bytes);
  for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
    schedule.chunks.push_back(
        {offsets[c], offsets[c + 1] - offsets[c], request.node_of(c % nodes)});
  }
  return schedule;
}

RingLine line_along(const Topology& topology, const NodeRing& ring, RouteSet& routes) {
  RingLine line;
  line.nodes = ring.nodes;
  for (const auto& hop : ring.hops) line.hops.push_back(routes.add(topology, hop));
  return line;
}

// The reverse of `link`, or of a parallel link if the ring itself uses the reverse: with two nodes,
// the ring goes there and back.
LinkId link_back(const Topology& topology, const NodeRing& ring, LinkId link) {
  const TopologyLink& there = topology.link(link);
  const auto taken = [&](LinkId candidate) {
    return std::any_of(ring.hops.begin(), ring.hops.end(),
                       [&](const std::vector<LinkId>& hop) { return hop.front() == candidate; });
  };
  LinkId parallel;
  for (const LinkId candidate : topology.out_links(there.to)) {
    const TopologyLink& back = topology.link(candidate);
    if (back.to != there.from || taken(candidate)) continue;
    if (back.out_name == there.in_name && back.in_name == there.out_name) return candidate;
    if (!parallel.valid()) parallel = candidate;
  }
  return parallel.valid() ? parallel : topology.link_between(there.to, there.from);
}

std::vector<RouteId> hops_back(const Topology& topology, const NodeRing& ring, RouteSet& routes) {
  std::vector<RouteId> back;
  for (std::size_t i = 0; i < ring.hops.size(); ++i) {
    if (ring.hamiltonian) {
      back.push_back(RouteSet::single(link_back(topology, ring, ring.hops[i].front())));
    } else {
      const NodeId next = ring.nodes[(i + 1) % ring.nodes.size()];
      back.push_back(routes.add(topology, route_packet(topology, next, ring.nodes[i])));
    }
  }
  return back;
}

NodeRing along(const Topology& topology, std::vector<NodeId> nodes) {
  NodeRing ring;
  ring.nodes = std::move(nodes);
  for (std::size_t i = 0; i < ring.nodes.size(); ++i) {
    const NodeId next = ring.nodes[(i + 1) % ring.nodes.size()];
    ring.hops.push_back(route_packet(topology, ring.nodes[i], next));
  }
  return ring;
}

// A ring in the order of the ranks along packet routes; without an order of ranks, a ring that
// follows the links.
NodeRing ring_of(const Topology& topology, const CollectiveRequest& request) {
  return request.rank_order.empty() ? find_node_ring(topology)
                                    : along(topology, request.rank_order);
}

// Adds a flow for each of the chunks [first_chunk, first_chunk + N), one per rank.
void add_flows(Schedule& schedule, const RingLine& line, std::size_t first_chunk) {
  std::vector<std::size_t> chunk_of(line.size());  // by node
  for (std::size_t rank = 0; rank < line.size(); ++rank) {
    chunk_of[schedule.chunks[first_chunk + rank].owner.index()] = first_chunk + rank;
  }
  const bool reduces = !is_gather(schedule.op);
  const bool gathers = !is_scatter(schedule.op);
  const RingWaits no_waits(line.size());
  const Timestep first_gather = reduces ? static_cast<Timestep>(line.size()) : 1;
  for (std::size_t place = 0; place < line.size(); ++place) {
    const std::size_t chunk = chunk_of[line.nodes[place].index()];
    if (schedule.chunks[chunk].size == 0) continue;
    const RingFlow flow{FlowId(chunk), place, ChunkId(chunk), 1};
    std::vector<TransferId> reduced;
    if (reduces) reduced = {add_reduce_chain(schedule, line, flow, 1, no_waits)};
    if (gathers) add_gather_chain(schedule, line, flow, first_gather, reduced);
  }
}

Schedule generate_ring_exchange(const Topology& topology, const CollectiveRequest& request) {
  Schedule schedule = empty_schedule("ring", topology, request);
  const RingLine line = line_along(topology, ring_of(topology, request), schedule.routes);
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> place_of(line.size());
  for (std::size_t p = 0; p < line.size(); ++p) place_of[line.nodes[p].index()] = p;
  RingExchange(schedule, request, order).add({line}, place_of);
  return finished(std::move(schedule));
}

Schedule generate_ring(const Topology& topology, const CollectiveRequest& request) {
  if (is_exchange(request.op)) return generate_ring_exchange(topology, request);
  Schedule schedule = with_chunks("ring", 1, topology, request);
  add_flows(schedule, line_along(topology, ring_of(topology, request), schedule.routes), 0);
  return finished(std::move(schedule));
}

// The ring with the nodes of every switch turned by `turns` places: other nodes send to the next
// switch, whose links may be slower.
NodeRing turned(const Topology& topology, NodeRing ring, std::uint32_t turns) {
  const auto first_switch = [&](NodeId node) {
    return topology.link(topology.out_links(node).front()).to;
  };
  for (auto begin = ring.nodes.begin(); begin != ring.nodes.end();) {
    const auto end = std::find_if(begin, ring.nodes.end(), [&](NodeId node) {
      return first_switch(node) != first_switch(*begin);
    });
    std::rotate(begin, begin + turns % (end - begin), end);
    begin = end;
  }
  return along(topology, std::move(ring.nodes));
}

Schedule generate_bidirectional_ring(const Topology& topology, const CollectiveRequest& request) {
  const std::uint32_t pairs = std::max(1U, request.segments);
  Schedule schedule = with_chunks("bidirectional_ring", 2 * pairs, topology, request);
  NodeRing ring = ring_of(topology, request);
  for (std::uint32_t turns = 0; turns < pairs; ++turns) {
    if (turns != 0) ring = turned(topology, ring_of(topology, request), turns);
    const RingLine clockwise = line_along(topology, ring, schedule.routes);
    add_flows(schedule, clockwise, 2 * turns * topology.num_nodes());
    add_flows(schedule, reversed(clockwise, hops_back(topology, ring, schedule.routes)),
              (2 * turns + 1) * topology.num_nodes());
  }
  return finished(std::move(schedule));
}

// `segments: auto`: 32 for each node, so that the way of one segment along the chain is 1/32 of the
// time; fewer if the messages would be too short or too many.
std::uint32_t segments_of_chain(const CollectiveRequest& request, std::size_t ranks) {
  constexpr std::size_t kMostMessages = 1 << 20;
  if (request.segments != 0) return request.segments;
  const Bytes most = std::min<Bytes>(32 * ranks, kMostMessages / ranks);
  return static_cast<std::uint32_t>(std::clamp<Bytes>(request.size / kLeastMessage, 1, most));
}

// All in one timestep: every node hands each segment on as soon as it has come.
Schedule generate_chain(const Topology& topology, const CollectiveRequest& request) {
  Schedule schedule = empty_schedule("chain", topology, request);
  schedule.num_steps = 1;
  schedule.listed_order = true;
  const RingLine line = line_along(topology, ring_of(topology, request), schedule.routes);
  const NodeId root = schedule.scope.root;
  const auto found = std::find(line.nodes.begin(), line.nodes.end(), root);
  const auto place = static_cast<std::size_t>(found - line.nodes.begin());
  const std::uint32_t segments = segments_of_chain(request, line.size());
  const auto offsets = cut_evenly(request.size, segments, request.element_bytes);
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    schedule.chunks.push_back({offsets[s], offsets[s + 1] - offsets[s], root});
    if (schedule.chunks.back().size == 0) continue;
    const RingFlow flow{FlowId(s), place, ChunkId(s), 1};
    if (request.op == CollectiveOp::reduce) {
      add_reduce_chain(schedule, line, flow, 1, RingWaits(line.size()));
    } else {
      add_gather_chain(schedule, line, flow, 1, {});
    }
  }
  for (Transfer& transfer : schedule.transfers) transfer.step = 1;
  return finished(std::move(schedule));
}

std::optional<ParameterProblem> problem_of_pairs(const Topology& topology,
                                                 const CollectiveRequest& request) {
  constexpr std::size_t kMostTurned = 72;
  constexpr std::uint32_t kMostPairs = 64;
  const bool turns = request.rank_order.empty() && topology.num_nodes() <= kMostTurned &&
                     !lower_rates_at_switches(topology).empty();
  if (request.segments < 2 || (turns && request.segments <= kMostPairs)) return std::nullopt;
  return ParameterProblem{
      "collective.segments",
      fmt::format("More rings, at most {} pairs, need switches with links of different rates, up "
                  "to {} nodes, and no collective.rank_order",
                  kMostPairs, kMostTurned),
      turns ? kMostPairs : 1};
}

}  // namespace

Generator ring_row() {
  Generator row("ring", "one unidirectional ring over all nodes (Hamiltonian where one exists)",
                with_unequal_parts(reduction_ops()), unsuited_for_routes, generate_ring);
  row.ops.push_back(CollectiveOp::all_to_all);
  row.too_large = exchange_too_large;
  row.exchanges_slowly = true;
  row.order_model = OrderModel::ring;
  row.pair_work = 500;
  row.look = 1;
  return row;
}

Generator chain_row() {
  Generator row("chain", "broadcast and reduce along the ring, pipelined in collective.segments",
                {CollectiveOp::broadcast, CollectiveOp::reduce}, unsuited_for_routes,
                generate_chain);
  row.parameters = {root_parameter(row.ops), {"collective.segments", {}}};
  row.plans_times = true;
  return row;
}

Generator bidirectional_ring_row() {
  Generator row(
      "bidirectional_ring",
      "two opposite rings, half of the data each way; in segments, as many pairs of rings",
      reduction_ops(), unsuited_for_routes, generate_bidirectional_ring);
  row.parameters = {{"collective.segments", {}}};
  row.problem = problem_of_pairs;
  row.order_model = OrderModel::ring;
  row.pair_work = 1000;
  row.look = 4;
  return row;
}

}  // namespace espalier
