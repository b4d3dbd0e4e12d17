// DIRECT (all-pairs): every node sends chunk i directly to node i, which reduces it, and every node
// sends its result directly to all others. Nothing is forwarded, so a phase has no dependencies and
// pays the latency once. In an all_to_all or all_to_allv, every node sends each other node its
// chunk.
//
// PAIRWISE sends the same chunks of an all_to_all one at a time: a node's next message leaves when
// the one of the step before has come in. Where shifts are free of contention, as behind a NIC for
// each node, no two messages meet on a link; DIRECT's nodes drift apart and queue at receivers.
//
// The order is the cyclic shift: with its t-th message of a phase, node i sends to node i + t. On a
// two-level fat-tree with as many spines as nodes per leaf, whose routes choose the spine by
// destination or by source, every such shift is free of contention.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"

namespace espalier {
namespace {

// The Gathers of each root wait for all Reduces that it receives, which makes N^3 waits.
constexpr std::size_t kMostNodes = 256;
constexpr std::size_t kMostExchanging = 1024;

class DirectScheduler {
 public:
  DirectScheduler(const char* name, const Topology& topology, const CollectiveRequest& request,
                  std::size_t per_step)
      : request_(request),
        nodes_(topology.num_nodes()),
        per_step_(per_step),
        phase_steps_(static_cast<Timestep>((nodes_ - 1 + per_step_ - 1) / per_step_)),
        offsets_(request.part_offsets(nodes_)),
        schedule_(empty_schedule(name, topology, request)),
        routes_(topology, schedule_.routes) {
    schedule_.num_steps = phase_steps_ * (request.op == CollectiveOp::all_reduce ? 2 : 1);
    schedule_.ni_ports = static_cast<std::uint32_t>(per_step_);
  }

  Schedule build(bool one_by_one) {
    if (is_exchange(schedule_.op)) {
      add_all_to_all(one_by_one);
    } else {
      for (std::size_t n = 0; n < nodes_; ++n) {
        schedule_.chunks.push_back({offsets_[n], size_of(n), request_.node_of(n)});
      }
      reduced_.resize(nodes_);
      if (!is_gather(schedule_.op)) add_reduce_scatter();
      if (!is_scatter(schedule_.op)) add_all_gather();
    }
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] Bytes size_of(std::size_t chunk) const {
    return offsets_[chunk + 1] - offsets_[chunk];
  }

  // Calls visit(shift, from, to) with ranks.
  template <class Visit>
  void for_each_pair(Visit visit) const {
    for (std::size_t shift = 1; shift < nodes_; ++shift) {
      for (std::size_t n = 0; n < nodes_; ++n) visit(shift, n, (n + shift) % nodes_);
    }
  }

  // `from` and `to` are ranks. The flow has the number of the chunk.
  [[nodiscard]] Transfer transfer(std::size_t shift, std::size_t from, std::size_t to,
                                  std::size_t chunk, TransferKind kind) {
    const auto step = static_cast<Timestep>(1 + (shift - 1) / per_step_);
    const NodeId sender = request_.node_of(from);
    const NodeId receiver = request_.node_of(to);
    const RouteId route = routes_.between(sender, receiver);
    return {sender, receiver, FlowId(chunk), ChunkId(chunk), 1, route, step, kind};
  }

  void add_reduce_scatter() {
    for_each_pair([&](std::size_t shift, std::size_t from, std::size_t to) {
      if (size_of(to) == 0) return;
      const Transfer t = transfer(shift, from, to, to, TransferKind::reduce);
      reduced_[to].push_back(schedule_.add(t, {}));
    });
  }

  void add_all_gather() {
    for_each_pair([&](std::size_t shift, std::size_t from, std::size_t to) {
      if (size_of(from) == 0) return;
      Transfer t = transfer(shift, from, to, from, TransferKind::copy);
      if (schedule_.op == CollectiveOp::all_reduce) t.step += phase_steps_;
      schedule_.add(t, reduced_[from]);
    });
  }

  [[nodiscard]] Bytes bytes_of_pair(std::size_t from, std::size_t to) const {
    return schedule_.op == CollectiveOp::all_to_all ? size_of(to)
                                                    : request_.counts[from * nodes_ + to];
  }

  // The chunks of a root are in the order in which they leave; its own chunk is first.
  void add_all_to_all(bool one_by_one) {
    Bytes offset = 0;
    for (std::size_t root = 0; root < nodes_; ++root) {
      for (std::size_t shift = 0; shift < nodes_; ++shift) {
        const std::size_t to = (root + shift) % nodes_;
        const Bytes bytes = bytes_of_pair(root, to);
        schedule_.chunks.push_back({offset, bytes, request_.node_of(root), request_.node_of(to)});
        offset += bytes;
      }
    }
    // By node, the message that came in last: in an earlier step, and in this step.
    std::vector<std::vector<TransferId>> before(nodes_);
    std::vector<std::vector<TransferId>> now(nodes_);
    std::size_t last_shift = 0;
    for_each_pair([&](std::size_t shift, std::size_t from, std::size_t to) {
      if (std::exchange(last_shift, shift) != shift) before = now;
      if (bytes_of_pair(from, to) == 0) return;
      const Transfer t = transfer(shift, from, to, from * nodes_ + shift, TransferKind::copy);
      const TransferId id = schedule_.add(t, before[from]);
      if (one_by_one) now[to] = {id};
    });
  }

  const CollectiveRequest& request_;
  std::size_t nodes_;
  std::size_t per_step_;
  Timestep phase_steps_;
  std::vector<Bytes> offsets_;
  Schedule schedule_;
  NodeRoutes routes_;
  std::vector<std::vector<TransferId>> reduced_;  // arrivals at the chunk's owner
};

std::string direct_too_large(const Topology& topology, CollectiveOp op) {
  const std::size_t most = is_exchange(op) ? kMostExchanging : kMostNodes;
  if (topology.num_nodes() <= most) return {};
  return fmt::format("A direct exchange has too many messages on {} nodes; it runs on at most {}",
                     topology.num_nodes(), most);
}

Schedule generate_direct(const Topology& topology, const CollectiveRequest& request) {
  return DirectScheduler("direct", topology, request, messages_per_step(topology)).build(false);
}

Schedule generate_pairwise(const Topology& topology, const CollectiveRequest& request) {
  return DirectScheduler("pairwise", topology, request, 1).build(true);
}

}  // namespace

Generator direct_row() {
  Generator row(
      "direct",
      "all-pairs: nodes send every chunk directly to its owner, and the owner sends the result to "
      "all",
      {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
       CollectiveOp::all_to_all, CollectiveOp::all_to_allv, CollectiveOp::all_gatherv,
       CollectiveOp::reduce_scatterv},
      unsuited_for_routes, generate_direct);
  row.too_large = direct_too_large;
  row.pair_work = 500;
  row.roots_wait = true;
  row.look = 7;
  return row;
}

Generator pairwise_row() {
  Generator row("pairwise", "nodes exchange chunks with one peer after the other",
                {CollectiveOp::all_to_all, CollectiveOp::all_to_allv}, unsuited_for_routes,
                generate_pairwise);
  row.too_large = direct_too_large;
  row.pair_work = 500;
  return row;
}

}  // namespace espalier
