// MultiTree's NI schedule tables (section IV-A, Fig. 5): the lowered form of a schedule, one table
// per node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class TableOp : std::uint8_t { reduce, gather, nop };
[[nodiscard]] const char* to_string(TableOp op);  // "Reduce", "Gather", "NOP"

// A tree neighbour and the route the Route Info of its head flit is computed from. The route is
// invalid where nothing is ever sent to it: a Gather's parent, a Reduce's children.
struct TablePeer {
  NodeId node;
  RouteId route;
};

// What the hardware does with an entry when it reaches the head of the table and Step equals the
// timestep counter:
//   Reduce: wait for a Reduce of this flow from every child, then send to the parent.
//   Gather: wait for the Gather of this flow from the parent, then send to every child. A root (no
//           parent) waits for every Reduce of this flow that is sent to it instead; in an
//           all_gather there is none.
//   NOP:    send nothing during this step; every field but the step is empty.
// `after` names other flows that must be complete at this node first: their Gather received (at
// their root: every Reduce that is sent to it), and what this node itself sends of them gone. Until
// then the Reduces that the entry waits for are held beside memory as they arrive: they come from
// nodes that are ahead. It is what composed algorithms such as 2D-RING need between their phases.
// MultiTree leaves it empty. The node's own entries of these flows come before this one, and all
// Gather entries of a root name the same flows, since they wait for the same Reduces.
//
// In MultiTree the Reduces sent to a root come from the children of its Gather entries, so that the
// Children field says all. In a ring the Reduce comes from one side and the Gather goes to the
// other: from whom Reduces end at a node is loaded into the NI along with the table.
//
// A flow is a tree, and the NI tells arrivals apart by flow, op and sender. So a node has at most
// one Reduce entry per flow, and receives the Gather of a flow at most once, and never where it is
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
};

struct ScheduleTables {
  explicit ScheduleTables(const Topology& topology) : routes(topology) {}
  explicit ScheduleTables(RouteSet route_set) : routes(std::move(route_set)) {}

  std::string algorithm;
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;
  Timestep num_steps = 0;
  bool contention_free = true;
  std::uint32_t ni_ports = 1;
  std::vector<Chunk> chunks;
  RouteSet routes;
  std::vector<std::vector<TableEntry>> nodes;  // by NodeId, sorted by step
  // Where it is given, there is one table, and every node holds it: it is written as for node 0,
  // and node v adds v to every node in it, and to the root of every flow. Address and size of an
  // entry are those of root 0's data; those of another root are the same places in its own.
  std::optional<Translations> symmetry;
  // Chunks, and flows, of each root. Precondition: symmetry.
  [[nodiscard]] std::size_t per_root() const { return chunks.size() / symmetry->num_nodes(); }
};

// Entries that a node's table stores: a NOP only says how long its step is held, and the paper's
// tables of 2N entries do not count it either.
[[nodiscard]] inline std::size_t stored_entries(const std::vector<TableEntry>& table) {
  return static_cast<std::size_t>(std::count_if(
      table.begin(), table.end(), [](const TableEntry& e) { return e.op != TableOp::nop; }));
}

// Within a step, entries that wait for nothing come first, then ascending flow id, as in the
// paper's Fig. 5. Steps in which a node has nothing to send get a NOP. Throws
// std::invalid_argument, naming the transfer, where the schedule cannot be said in tables: a
// dependency that is neither from the same tree nor a completed flow, or a wait that the hardware
// would add. Precondition: certify() finds nothing malformed in the schedule.
[[nodiscard]] ScheduleTables lower_to_tables(const Schedule& schedule);

// The way back, from what the tables alone say: the certifier judges what the hardware will do, not
// what the generator meant. Throws TableError, naming node and entry, where an entry means nothing
// (no parent for a Reduce, a peer without a route, an address range that does not fall on chunk
// borders, a wait for a message nobody sends); certify() reports all of these instead of throwing.
// A range that began or ended with empty chunks comes back without.
// Every node's own table where there is one for all; else the tables as they are. Memory grows with
// the square of the nodes. Precondition: certify() finds nothing.
[[nodiscard]] ScheduleTables expand_symmetry(const Topology& topology, ScheduleTables tables);

struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[nodiscard]] Schedule raise_from_tables(const Topology& topology, const ScheduleTables& tables);

}  // namespace espalier
