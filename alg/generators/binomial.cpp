// BINOMIAL: broadcast and reduce over a binomial tree of ranks, the usual algorithm of MPI
// libraries for short messages (Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", 2005, section 4). In step t of a broadcast, the first 2^(t-1)
// ranks, counted from the root, send the whole data to the next 2^(t-1). A reduce is the same
// backwards.
#include <algorithm>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"

namespace espalier {

namespace {

// The send of a broadcast to rank `to`; both count from the root.
struct BinomialSend {
  std::size_t from = 0;
  std::size_t to = 0;
  Timestep step = 1;
};

// By receiver, from 1.
std::vector<BinomialSend> binomial_sends(std::size_t ranks) {
  std::vector<BinomialSend> sends;
  std::size_t reached = 1;
  for (Timestep step = 1; reached < ranks; ++step, reached *= 2) {
    for (std::size_t to = reached; to < std::min(2 * reached, ranks); ++to) {
      sends.push_back({to - reached, to, step});
    }
  }
  return sends;
}

Schedule generate_binomial(const Topology& topology, const CollectiveRequest& request) {
  const std::size_t ranks = topology.num_nodes();
  const bool reduces = request.op == CollectiveOp::reduce;
  std::vector<BinomialSend> sends = binomial_sends(ranks);
  Schedule schedule = empty_schedule("binomial", topology, request);
  schedule.num_steps = sends.back().step;
  schedule.chunks = {{0, request.size, schedule.scope.root}};
  if (request.size == 0) return schedule;
  NodeRoutes routes(topology, schedule.routes);
  const auto node = [&](std::size_t from_root) {
    return request.node_of((request.root + from_root) % ranks);
  };
  std::vector<std::vector<TransferId>> arrived(ranks);  // by rank, counted from the root
  if (reduces) std::reverse(sends.begin(), sends.end());
  for (BinomialSend send : sends) {
    if (reduces) {
      std::swap(send.from, send.to);
      send.step = schedule.num_steps + 1 - send.step;
    }
    const RouteId route = routes.between(node(send.from), node(send.to));
    const TransferKind kind = reduces ? TransferKind::reduce : TransferKind::copy;
    arrived[send.to].push_back(schedule.add(
        {node(send.from), node(send.to), FlowId(0), ChunkId(0), 1, route, send.step, kind},
        arrived[send.from]));
  }
  return finished(std::move(schedule));
}

}  // namespace

Generator binomial_row() {
  Generator row("binomial", "broadcast and reduce of the whole data over a binomial tree of ranks",
                {CollectiveOp::broadcast, CollectiveOp::reduce}, unsuited_for_routes,
                generate_binomial);
  row.parameters = {root_parameter(row.ops)};
  return row;
}

}  // namespace espalier
