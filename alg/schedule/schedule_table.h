// MultiTree's NI schedule tables (section IV-A, Fig. 5): the lowered form of a schedule, one table
// per node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class TableOp : std::uint8_t { reduce, gather, nop };
[[nodiscard]] const char* to_string(TableOp op);  // "Reduce", "Gather", "NOP"

// A tree neighbour, and the route from which the Route Info of a head flit to it is computed. The
// route is invalid if nothing is ever sent to it: a Gather's parent, a Reduce's children.
struct TablePeer {
  NodeId node;
  RouteId route;
};

// The hardware executes an entry when it reaches the head of the table and Step equals the timestep
// counter:
//   Reduce: wait for a Reduce of this flow from every child, then send to the parent.
//   Gather: wait for the Gather of this flow from the parent, then send to every child. A root (no
//           parent) waits for every Reduce of this flow that is sent to it instead; in an
//           all_gather there is none.
//   NOP:    send nothing during this step; every field but the step is empty.
// `after` names other flows that must be complete at this node first. A flow is complete when the
// node has received its Gather (at the flow's root: every Reduce that is sent to it) and has sent
// all its own messages of the flow. Until then, Reduces for this entry come from nodes that are
// ahead, and the NI holds them beside memory. Composed algorithms such as 2D-RING need `after`
// between their phases; MultiTree leaves it empty. The node's entries of the named flows come
// before this entry. All Gather entries of a root name the same flows, since they wait for the same
// Reduces.
//
// In MultiTree the Reduces for a root come from the children of its Gather entries, so the Children
// field names the senders. In a ring the Reduce comes from one side and the Gather goes to the
// other: the senders of a root's Reduces are loaded into the NI along with the table.
//
// A flow is a tree, and the NI tells arrivals apart by flow, op and sender. So a node has at most
// one Reduce entry per flow, and receives the Gather of a flow at most once, and never if it is
// that flow's root.
struct TableEntry {
  TableOp op = TableOp::nop;
  FlowId flow;
  TablePeer parent;
  std::vector<TablePeer> children;
  Timestep step = 1;
  Bytes start_addr = 0;
  Bytes size = 0;
  std::vector<FlowId> after;
  // The slot counter's value from which the entry may issue, as a time since the NI entered the
  // step; 0: at once. It keeps links that several nodes share in the planned order.
  std::uint64_t not_before_ps = 0;
};

struct ScheduleTables {
  explicit ScheduleTables(const Topology& topology) : routes(topology) {}
  explicit ScheduleTables(RouteSet route_set) : routes(std::move(route_set)) {}

  std::string algorithm;
  std::string choice;  // of auto: what was taken and why, as a sentence
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;
  Timestep num_steps = 0;
  bool contention_free = true;
  bool listed_order = false;  // as Schedule::listed_order
  std::uint32_t ni_ports = 1;
  std::vector<Chunk> chunks;
  RouteSet routes;
  std::vector<std::vector<TableEntry>> nodes;  // by NodeId, sorted by step
  // If given, there is one table and every node holds it. The table is written for node 0; node v
  // adds v to every node in it and to the root of every flow. Address and size of an entry refer to
  // root 0's data; for another root they refer to the same places in that root's data.
  std::optional<Translations> symmetry;
  // The number of chunks, and of flows, of each root. Precondition: symmetry is set.
  [[nodiscard]] std::size_t per_root() const { return chunks.size() / symmetry->num_nodes(); }
};

// The number of entries that a node's table stores. A NOP only holds its step; the paper's tables
// of 2N entries do not count NOPs either.
[[nodiscard]] inline std::size_t stored_entries(const std::vector<TableEntry>& table) {
  return static_cast<std::size_t>(std::count_if(
      table.begin(), table.end(), [](const TableEntry& e) { return e.op != TableOp::nop; }));
}

// Lowers a schedule to tables. Within a step, entries that wait for nothing come first, then
// entries in ascending flow id, as in the paper's Fig. 5. A step in which a node has nothing to
// send gets a NOP. Throws std::invalid_argument, naming the transfer, if tables cannot express the
// schedule: a dependency that is neither from the same tree nor a completed flow, or a wait that
// the hardware would add. Precondition: certify() finds nothing malformed in the schedule.
[[nodiscard]] ScheduleTables lower_to_tables(const Schedule& schedule);

// Makes a table for every node from the shared table. Tables without symmetry are returned
// unchanged. Memory grows with the square of the number of nodes. Precondition: certify() finds
// nothing.
[[nodiscard]] ScheduleTables expand_symmetry(const Topology& topology, ScheduleTables tables);

// Node 0's transfers in the whole schedule: every transfer of root 0 is translated once so that
// node 0 sends it, and once so that node 0 receives it. Chunks remain root 0's.
[[nodiscard]] Schedule fold_onto_first_node(const Schedule& schedule);

// The tables of all nodes, restricted to root 0's flows: linear in the number of nodes. A proof
// about them holds for every root. Preconditions: symmetry, one table, and every id in it is in
// range.
[[nodiscard]] ScheduleTables tables_of_first_root(const ScheduleTables& tables);

// Several collectives as one program of the NIs. A node starts the next collective when it has
// issued all entries of the previous one; it does not wait for other nodes.
struct TableSequence {
  ScheduleTables tables;
  // By part: its beginning in `tables`.
  std::vector<Timestep> first_step;
  std::vector<ChunkId> first_chunk;
};

// Concatenates the parts' tables: the steps, flows, chunks and addresses of each part start after
// those of the previous part. Preconditions: at least one part; all parts compute one operation on
// `topology`.
[[nodiscard]] TableSequence concatenate(const Topology& topology,
                                        const std::vector<const ScheduleTables*>& parts);

// The width of a schedule-table entry in hardware: MultiTree, section V-A ("each table entry needs
// 200 bits" on 64 nodes). Every field is as narrow as its values permit.
struct TableFormat {
  // Bits, except for the two counts of slots.
  std::uint32_t op = 2;  // Reduce, Gather, NOP
  std::uint32_t flow = 0;
  std::uint32_t node = 0;  // for Parent and for each child: a node, or nil
  std::size_t children_slots = 0;
  std::uint32_t step = 0;
  std::uint32_t start_addr = 64;
  std::uint32_t size = 64;
  std::size_t after_slots = 0;  // number of flows; only for composed algorithms
  std::uint32_t slot = 0;       // slot counter, in steps of 1 ns; only if entries have slots

  [[nodiscard]] std::uint64_t entry_bits() const;
  // The size in bytes of a table with `entries` entries, rounded up.
  [[nodiscard]] std::uint64_t table_bytes(std::size_t entries) const;
};

// The narrowest format that fits every entry of all tables.
[[nodiscard]] TableFormat table_format(const ScheduleTables& tables, std::size_t num_nodes);
// E.g. "Op 2, FlowID 6, Parent 7, Children 4 x 7, Step 6, Start Addr 64, Size 64".
[[nodiscard]] std::string to_string(const TableFormat& format);

}  // namespace espalier
