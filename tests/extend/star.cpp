// Step 1 of "Adding an algorithm" (CONTRIBUTING.md): one .cpp with the generator and its row.
//
// STAR: every rank sends all its data to rank 0, which sends the sum back to every rank.
#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"

namespace espalier {

namespace {

Schedule generate_star(const Topology& topology, const CollectiveRequest& request) {
  Schedule schedule(topology);
  schedule.algorithm = "star";
  schedule.op = request.op;
  schedule.num_nodes = topology.num_nodes();
  schedule.size = request.size;
  schedule.chunks.push_back({0, request.size, NodeId()});
  BlockExchange exchange(topology, schedule);
  for (const TransferKind kind : {TransferKind::reduce, TransferKind::copy}) {
    ++schedule.num_steps;
    for (std::size_t rank = 1; rank < schedule.num_nodes; ++rank) {
      const NodeId hub = request.node_of(0);
      const NodeId other = request.node_of(rank);
      const bool up = kind == TransferKind::reduce;
      exchange.send(up ? other : hub, up ? hub : other, {0}, kind);
    }
    exchange.end_exchange();
  }
  schedule.sort_by_step();
  schedule.contention_free = is_contention_free(schedule);
  return schedule;
}

}  // namespace

Generator star_row() {
  Generator row;
  row.name = "star";
  row.summary = "everything to rank 0, and the sum back";
  row.ops = {CollectiveOp::all_reduce};
  row.unsuited = unsuited_for_routes;
  row.make = generate_star;
  return row;
}

}  // namespace espalier
