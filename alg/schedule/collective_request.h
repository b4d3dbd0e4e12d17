// What a collective asks of an algorithm that generates its schedule.
#pragma once

#include <algorithm>
#include <vector>

#include "alg/schedule/construction.h"
#include "alg/schedule/message_timing.h"
#include "alg/schedule/schedule.h"

namespace espalier {

struct CollectiveRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  // all_gather: size of the gathered result; other operations: size of each rank's input. A
  // multiple of element_bytes.
  Bytes size = 0;
  Bytes element_bytes = kDefaultElementBytes;
  // Pieces of a chunk: a node forwards one piece while the next one arrives. 0: the algorithm
  // chooses.
  std::uint32_t segments = 0;
  std::uint32_t base = 4;  // peers of a group (bcube)
  std::size_t root = 0;    // rank (broadcast, reduce)
  // Several groups of nodes, rank 0 first, that run at the same time; empty: one, of all nodes.
  // Then `size` is the sum of theirs.
  std::vector<RankGroup> groups;
  // Bytes that each rank sends to each rank, [from * ranks + to] (all_to_allv), none to itself; or
  // the bytes of each rank's part (all_gatherv, reduce_scatterv), `size` together.
  std::vector<Bytes> counts;
  // Messages of other collectives are in flight at the same time, so messages keep to the routes of
  // packets, which are free of deadlock together.
  bool keeps_to_packet_routes = false;
  // By vertex: the switches that store messages and add to them as nodes do, because they are nodes
  // outside of the process group (alg/generators/process_group.h). Empty: none.
  std::vector<bool> relays;
  // The node of each rank; empty: rank r is node r. Chunks are in the order of ranks, and chunk r
  // belongs to the node of rank r. An algorithm over ranks sends from rank to rank along packet
  // routes. In an algorithm that follows the network, ranks only determine the owners of chunks
  // and, with multitree, the order in which trees take turns.
  std::vector<NodeId> rank_order;
  // The order in which trees take turns (MultiTree, section III-C2).
  enum class TreeOrder : std::uint8_t { root, remaining_height } tree_order = TreeOrder::root;
  StepEnd step_end = StepEnd::paper;         // multitree
  LineOrder line_order = LineOrder::folded;  // 2d_ring on a mesh

  // What the machine's messages take. Algorithms that plan by time read it.
  MessageTiming timing;
  // The most entries of a node's table that planning algorithms aim at; 0: any number. An entry
  // that repeats counts once.
  std::size_t table_rows = 256;
  // A row of a table repeats with strides (ni.table_repeat), so periodic orders need few rows.
  bool table_repeat = false;

  [[nodiscard]] NodeId node_of(std::size_t rank) const {
    return rank_order.empty() ? NodeId(rank) : rank_order[rank];
  }
  // The schedule's scope on a network of `nodes` nodes, each of which takes part.
  [[nodiscard]] Scope scope(std::size_t nodes) const {
    Scope scope;
    if (is_rooted(op)) scope.root = node_of(root);
    scope.groups = groups;
    for (RankGroup& group : scope.groups) std::sort(group.members.begin(), group.members.end());
    scope.counts.resize(counts.size());
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const std::size_t row = is_exchange(op) ? node_of(c / nodes).index() * nodes : 0;
      scope.counts[row + node_of(c % nodes).index()] = counts[c];
    }
    return scope;
  }
  // The offsets of the parts of `ranks` ranks, and their end.
  [[nodiscard]] std::vector<Bytes> part_offsets(std::size_t ranks) const {
    if (!has_unequal_parts(op)) return cut_evenly(size, ranks, element_bytes);
    std::vector<Bytes> offsets{0};
    for (const Bytes count : counts) offsets.push_back(offsets.back() + count);
    return offsets;
  }
};

// The request's schedule on this network, without steps, chunks and transfers.
[[nodiscard]] Schedule empty_schedule(const char* algorithm, const Topology& topology,
                                      const CollectiveRequest& request);

}  // namespace espalier
