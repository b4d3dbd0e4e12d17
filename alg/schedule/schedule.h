// The schedule IR. Every generator produces it; the certifier, the lowerings and the exporters read
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "alg/schedule/translations.h"
#include "hw/ids.h"
#include "hw/topology/topology.h"

namespace espalier {

// broadcast, reduce, custom: only collective programs (alg/program) compute them.
enum class CollectiveOp : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce,
  custom
};
enum class TransferKind : std::uint8_t { reduce, copy };

[[nodiscard]] const char* to_string(CollectiveOp op);
[[nodiscard]] const char* to_string(TransferKind kind);

// A piece of the collective's data; the data of every rank is the same list of chunks.
struct Chunk {
  Bytes offset = 0;
  Bytes size = 0;
  // reduce_scatter: the rank whose copy must be complete at the end; all_gather, all_to_all: the
  // rank that has it at the start. Not used by all_reduce.
  NodeId owner;
  NodeId destination = {};  // all_to_all: the rank that must have it at the end
};

// Bytes that the chunks cover: `size`; in an all_to_all `size` for every rank.
[[nodiscard]] constexpr Bytes data_bytes(CollectiveOp op, Bytes size, std::size_t ranks) {
  return op == CollectiveOp::all_to_all ? size * ranks : size;
}
// Whether a rank starts with valid data only in the chunks that it owns.
[[nodiscard]] constexpr bool starts_scattered(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::all_to_all;
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
  Timestep step = 1;  // 1-based, over the whole collective
  TransferKind kind = TransferKind::copy;
};

struct Schedule {
  explicit Schedule(const Topology& topology) : routes(topology) {}

  std::string algorithm;  // name as in `espalier list algorithms`
  CollectiveOp op = CollectiveOp::all_reduce;
  std::size_t num_nodes = 0;
  Bytes size = 0;          // as requested; chunks cover [0, data_bytes()) without gaps, in order
  Timestep num_steps = 0;  // of the whole schedule: an all_reduce of T steps per phase has 2T
  // Claim: no link carries more transfers of one step than it has units of bandwidth
  // (link_units.h).
  bool contention_free = true;
  std::uint32_t ni_ports =
      1;  // injection and ejection ports the algorithm can use at once at a node (NI radix)
  std::vector<Chunk> chunks;
  std::vector<Transfer> transfers;  // sorted by step
  RouteSet routes;
  // Where it is given, chunks and flows are numbered by their root, as many for each, and the
  // transfers are those of root 0 alone: all others are their translates.
  std::optional<Translations> symmetry;

  // Transfers that must have arrived (and been reduced) at the sender before this one may start.
  // dependencies[dependency_begin[t] .. dependency_begin[t + 1])
  std::vector<std::uint32_t> dependency_begin{0};
  std::vector<TransferId> dependencies;

  // Appends `transfer` and the transfers it waits for; returns its id.
  TransferId add(const Transfer& transfer, const std::vector<TransferId>& after);
  // Stable sort of the transfers by step, dependencies renamed along. Every generator ends with it.
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

// Cuts `size` bytes into `count` runs of whole elements that differ by at most one element, the
// longer ones first. A run may be empty. Returns count + 1 offsets. Precondition: size is a
// multiple of element_bytes.
[[nodiscard]] std::vector<Bytes> cut_evenly(Bytes size, std::size_t count, Bytes element_bytes);

// No link carries two transfers of one step. Precondition: transfers sorted by step.
[[nodiscard]] bool is_contention_free(const Schedule& schedule);

}  // namespace espalier
