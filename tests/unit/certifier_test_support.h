// Small schedules, made transfer by transfer, and what the certifier says of them.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test_graphs.h"
#include "tests/support/certify_schedule.h"
#include "tests/support/networks.h"

namespace espalier::certifier_test {

inline constexpr TransferKind kReduce = TransferKind::reduce;
inline constexpr TransferKind kCopy = TransferKind::copy;

// The violations of one kind, one per line.
inline std::string listed(const Certificate& certificate, ViolationKind kind) {
  std::string text;
  for (const Violation& v : certificate.violations) {
    if (v.kind == kind) text += v.what + "\n";
  }
  return text;
}

using Kinds = std::set<ViolationKind>;

inline Kinds kinds(const Certificate& certificate) {
  Kinds result;
  for (const Violation& v : certificate.violations) result.insert(v.kind);
  return result;
}

// A schedule over direct links, with chunks of 8 bytes.
struct Plan {
  Plan(Topology network, CollectiveOp op, std::size_t chunks)
      : topology(std::move(network)), schedule(topology) {
    schedule.op = op;
    schedule.num_nodes = topology.num_nodes();
    schedule.size = 8 * chunks;
    schedule.num_steps = 9;
    for (std::size_t c = 0; c < chunks; ++c) schedule.chunks.push_back({8 * c, 8, NodeId(c)});
  }
  TransferId add(TransferKind kind, std::size_t flow, std::size_t from, std::size_t to,
                 Timestep step, const std::vector<TransferId>& after = {}, std::size_t chunk = 0) {
    const RouteId route = RouteSet::single(topology.link_between(NodeId(from), NodeId(to)));
    return schedule.add(
        {NodeId(from), NodeId(to), FlowId(flow), ChunkId(chunk), 1, route, step, kind}, after);
  }
  [[nodiscard]] Certificate certified(const CertifierLimits& limits = {}) const {
    return certify(topology, schedule, limits);
  }
  Topology topology;
  Schedule schedule;
};

inline Plan pair(CollectiveOp op = CollectiveOp::all_reduce, std::size_t chunks = 1) {
  return {make_mesh({2}, test::kPlainLink), op, chunks};
}

inline Plan line_of_3(CollectiveOp op = CollectiveOp::all_reduce, std::size_t chunks = 1) {
  return {make_mesh({3}, test::kPlainLink), op, chunks};
}

}  // namespace espalier::certifier_test
