// MultiTree's NI schedule tables (section IV-A, Fig. 5): the lowered form of a schedule, one table
// per node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/repeated_rows.h"
#include "alg/schedule/schedule.h"
#include "alg/schedule/table_entry.h"
#include "hw/ids.h"

namespace espalier {

struct ScheduleTables {
  explicit ScheduleTables(const Topology& topology) : routes(topology) {}
  explicit ScheduleTables(RouteSet route_set) : routes(std::move(route_set)) {}

  std::string algorithm;
  std::string choice;  // what auto took and why, or that a planner's budget was spent
  std::string taken;   // of auto: the generator that was taken
  CollectiveOp op = CollectiveOp::all_reduce;
  Scope scope;
  Bytes size = 0;
  Timestep num_steps = 0;
  bool contention_free = true;
  bool listed_order = false;  // as Schedule::listed_order
  std::uint32_t ni_ports = 1;
  std::vector<Chunk> chunks;
  RouteSet routes;
  std::vector<std::vector<TableEntry>> nodes;  // by NodeId, sorted by step
  // How the memories store `nodes`, if their rows repeat; otherwise empty, and an entry is a row.
  std::vector<RepeatedTable> repeated;
  // If given, there is one table and every node holds it. The table is written for node 0; node v
  // adds v to every node in it and to the root of every flow. Address and size of an entry refer to
  // root 0's data; for another root they refer to the same places in that root's data.
  std::optional<Translations> symmetry;
  // The number of chunks, and of flows, of each root. Precondition: symmetry is set.
  [[nodiscard]] std::size_t per_root() const { return chunks.size() / symmetry->num_nodes(); }
};

// The number of rows that the table memory of node `node` needs. A NOP only holds its step; the
// paper's tables of 2N entries do not count NOPs either.
[[nodiscard]] std::size_t stored_rows(const ScheduleTables& tables, std::size_t node);

// Stores all tables in rows that repeat. Precondition: certify() finds nothing malformed.
void repeat_all_rows(ScheduleTables& tables);

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

// Concatenates the parts' tables: the steps, flows, chunks and addresses of each part continue
// after the previous part. Preconditions: at least one part; all parts compute one operation on
// `topology`.
[[nodiscard]] TableSequence concatenate(const Topology& topology,
                                        const std::vector<const ScheduleTables*>& parts);

// The width of a schedule-table entry in hardware: MultiTree, section V-A ("each table entry needs
// 200 bits" on 64 nodes). Every field is as narrow as its values permit.
struct TableFormat {
  // Bits, except for the two counts of fields.
  std::uint32_t op = 2;  // Reduce, Gather, NOP
  std::uint32_t flow = 0;
  std::uint32_t node = 0;  // for Parent and for each child: a node, or nil
  std::size_t children_fields = 0;
  std::uint32_t step = 0;
  std::uint32_t start_addr = 64;
  std::uint32_t size = 64;
  std::size_t after_fields = 0;  // number of flows; only for composed algorithms
  std::uint32_t time_slot = 0;   // slot counter, in steps of 1 ns; only if entries have time slots
  // First pass, count, last size and strides; only for rows that repeat.
  std::uint32_t repeat = 0;
  std::uint32_t repeat_field = 0;  // the widest one of flow, step, time slot, pass and count

  [[nodiscard]] std::uint64_t entry_bits() const;
  // The size in bytes of a table with `entries` entries, rounded up.
  [[nodiscard]] std::uint64_t table_bytes(std::size_t entries) const;
};

// The narrowest format that fits every entry, or repeated row, of all tables.
[[nodiscard]] TableFormat table_format(const ScheduleTables& tables, std::size_t num_nodes);
// E.g. "Op 2, FlowID 6, Parent 7, Children 4 x 7, Step 6, Start Addr 64, Size 64".
[[nodiscard]] std::string to_string(const TableFormat& format);

}  // namespace espalier
