// The schedule IR. Every generator produces it; the certifier, the lowerings and the exporters read
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "alg/schedule/scope.h"
#include "alg/schedule/translations.h"
#include "hw/ids.h"
#include "hw/topology/topology.h"

namespace espalier {

// Only collective programs (alg/program) compute custom, and only schedules the operations with
// counts: every pair of ranks has a number of bytes of its own, or every rank (Scope::counts).
enum class CollectiveOp : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  custom,
  all_to_allv,
  all_gatherv,
  reduce_scatterv
};
enum class TransferKind : std::uint8_t { reduce, copy };

[[nodiscard]] const char* to_string(CollectiveOp op);
[[nodiscard]] const char* to_string(TransferKind kind);

// A piece of the collective's data; the data of every rank is the same list of chunks.
struct Chunk {
  Bytes offset = 0;
  Bytes size = 0;
  // reduce_scatter, reduce: the rank whose copy must be complete at the end. all_gather, broadcast,
  // all_to_all, all_to_allv: the rank that has the chunk at the start. all_reduce does not use it.
  NodeId owner;
  NodeId destination = {};  // all_to_all(v): the rank that must have the chunk at the end
  std::uint32_t group = 0;  // whose data it is (Scope::groups)
};

// Whether every rank has data of its own for every other one.
[[nodiscard]] constexpr bool is_exchange(CollectiveOp op) {
  return op == CollectiveOp::all_to_all || op == CollectiveOp::all_to_allv;
}
[[nodiscard]] constexpr bool is_gather(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::all_gatherv;
}
[[nodiscard]] constexpr bool is_scatter(CollectiveOp op) {
  return op == CollectiveOp::reduce_scatter || op == CollectiveOp::reduce_scatterv;
}
// Whether every rank owns a number of bytes of its own.
[[nodiscard]] constexpr bool has_unequal_parts(CollectiveOp op) {
  return op == CollectiveOp::all_gatherv || op == CollectiveOp::reduce_scatterv;
}
[[nodiscard]] constexpr bool has_counts(CollectiveOp op) {
  return op == CollectiveOp::all_to_allv || has_unequal_parts(op);
}
// The values of Scope::counts among so many ranks.
[[nodiscard]] constexpr std::size_t num_counts(CollectiveOp op, std::size_t ranks) {
  return op == CollectiveOp::all_to_allv ? ranks * ranks : has_unequal_parts(op) ? ranks : 0;
}
// Whether one rank, the root, owns all chunks.
[[nodiscard]] constexpr bool is_rooted(CollectiveOp op) {
  return op == CollectiveOp::broadcast || op == CollectiveOp::reduce;
}
// Whether a rank starts with valid data only in the chunks that it owns.
[[nodiscard]] constexpr bool starts_scattered(CollectiveOp op) {
  return is_gather(op) || op == CollectiveOp::broadcast || is_exchange(op);
}
// Whether only the owner of a chunk must have it at the end.
[[nodiscard]] constexpr bool ends_at_owner(CollectiveOp op) {
  return is_scatter(op) || op == CollectiveOp::reduce;
}
// Bytes that the chunks cover: `size`, in an all_to_all `size` for every rank of a group, in an
// all_to_allv what all pairs send.
[[nodiscard]] inline Bytes data_bytes(CollectiveOp op, Bytes size, const Scope& scope,
                                      std::size_t nodes) {
  if (op == CollectiveOp::all_to_allv) return scope.all_counts();
  if (op != CollectiveOp::all_to_all) return size;
  if (scope.groups.size() < 2) return size * scope.members(nodes).front().size();
  Bytes all = 0;
  for (const RankGroup& group : scope.groups) all += group.size * group.members.size();
  return all;
}

// One message of the schedule: chunks [first_chunk, first_chunk + num_chunks) of the sender's
// memory go along `route` and are added to (reduce) or replace (copy) the receiver's.
struct Transfer {
  NodeId from;
  NodeId to;
  FlowId flow;
  ChunkId first_chunk;
  std::uint32_t num_chunks = 1;
  RouteId route;
  Timestep step = 1;  // counted from 1, over the whole collective
  TransferKind kind = TransferKind::copy;
  // The time slot of the transfer: it starts no earlier than this, counted from the start of its
  // step at its sender. 0: as soon as it can.
  std::uint64_t not_before_ps = 0;
};

struct Schedule {
  explicit Schedule(const Topology& topology) : routes(topology) {}

  std::string algorithm;  // name as in `espalier list algorithms`
  CollectiveOp op = CollectiveOp::all_reduce;
  Scope scope;
  std::size_t num_nodes = 0;
  // As requested, of all groups together. Chunks cover [0, data_bytes()) in order and without gaps.
  Bytes size = 0;
  Timestep num_steps = 0;  // of the whole schedule: an all_reduce of T steps per phase has 2T
  // Claim: no link carries more transfers in one step than it has units of bandwidth
  // (alg/routes/links.h).
  bool contention_free = true;
  // The transfers of a node and step are listed in the order of its table, one entry each.
  // Otherwise lower_to_tables() chooses an order and shares entries.
  bool listed_order = false;
  bool is_budget_spent = false;  // planning stopped, and the best plan until then was taken
  // Injection and ejection ports that the algorithm can use at the same time at a node (NI radix).
  std::uint32_t ni_ports = 1;
  std::vector<Chunk> chunks;
  std::vector<Transfer> transfers;  // sorted by step
  RouteSet routes;
  // If set, chunks and flows are numbered by their root, the same number for each root, and
  // `transfers` holds only root 0's transfers. All other transfers are their translates.
  std::optional<Translations> symmetry;

  // Transfers that must have arrived (and been reduced) at the sender before transfer t may start:
  // dependencies[dependency_begin[t] .. dependency_begin[t + 1]).
  std::vector<std::uint32_t> dependency_begin{0};
  std::vector<TransferId> dependencies;

  // Appends `transfer`, which waits for the transfers in `after`. Returns its id.
  TransferId add(const Transfer& transfer, const std::vector<TransferId>& after);
  // Sorts the transfers by step (stable) and renames the dependencies. Every generator ends with
  // it.
  void sort_by_step();

  [[nodiscard]] Bytes bytes_of(const Transfer& t) const;

  struct DependencyRange {
    const TransferId* first;
    const TransferId* last;
    [[nodiscard]] const TransferId* begin() const { return first; }
    [[nodiscard]] const TransferId* end() const { return last; }
  };
  [[nodiscard]] DependencyRange dependencies_of(TransferId t) const {
    return {dependencies.data() + dependency_begin[t.index()],
            dependencies.data() + dependency_begin[t.index() + 1]};
  }
};

inline constexpr Bytes kDefaultElementBytes = 4;

// Cuts `size` bytes into `count` pieces of whole elements that differ by at most one element,
// longer pieces first. A piece may be empty. Returns count + 1 offsets. Precondition: size is a
// multiple of element_bytes.
[[nodiscard]] std::vector<Bytes> cut_evenly(Bytes size, std::size_t count, Bytes element_bytes);

// Where part `place` of `size` ends, if `size` is cut into parts in proportion to share_of(0) to
// share_of(parts - 1).
template <class ShareOf>
[[nodiscard]] std::uint64_t end_of_part(std::uint64_t size, std::size_t parts, std::size_t place,
                                        ShareOf share_of) {
  std::uint64_t until = 0;
  std::uint64_t all = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    all += share_of(part);
    if (part == place) until = all;
  }
  return size / all * until + size % all * until / all;
}

// True if no link carries two transfers of one step. Precondition: transfers are sorted by step.
[[nodiscard]] bool is_contention_free(const Schedule& schedule);

}  // namespace espalier
