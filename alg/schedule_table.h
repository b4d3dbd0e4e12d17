// MultiTree's NI schedule tables (section IV-A, Fig. 5): the lowered form of a schedule, one table per node.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class TableOp : std::uint8_t { reduce, gather, nop };
[[nodiscard]] const char* to_string(TableOp op);  // "Reduce", "Gather", "NOP"

// A tree neighbour and the route the Route Info of its head flit is computed from.
struct TablePeer {
  NodeId node;
  RouteId route;  // invalid where nothing is ever sent to it (a Gather's parent, a Reduce's children)
};

// What the hardware does with an entry when it reaches the head of the table and Step equals the timestep counter:
//   Reduce: wait for a Reduce of this flow from every child, then send to the parent.
//   Gather: wait for the Gather of this flow from the parent, then send to every child. A root (no parent) waits for
//           the Reduces of this flow from the children of all its Gather entries instead; in an all_gather it
//           waits for nothing.
//   NOP:    send nothing during this step.
// `after` names flows that must be complete at this node first (their Gather received; at their root, their Reduces):
// what composed algorithms such as 2D-RING need between their phases. MultiTree leaves it empty.
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

  std::string algorithm;
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;
  Timestep num_steps = 0;
  bool contention_free = true;
  std::uint32_t ni_ports = 1;
  std::vector<Chunk> chunks;
  RouteSet routes;
  std::vector<std::vector<TableEntry>> nodes;  // by NodeId, sorted by step
};

// Within a step, entries that wait for nothing come first, then ascending flow id, as in the paper's Fig. 5. Steps in
// which a node has nothing to send get a NOP. Throws std::invalid_argument where a dependency of the schedule cannot be
// said in a table (it is neither from the same tree nor a completed flow).
[[nodiscard]] ScheduleTables lower_to_tables(const Schedule& schedule);

// The way back, from what the tables alone say: the certifier judges what the hardware will do, not what the
// generator meant. Throws TableError, naming node and entry, where an entry means nothing (no parent for a Reduce, a
// peer without a route, an address range that does not fall on chunk borders, a wait for a message nobody sends).
struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[nodiscard]] Schedule raise_from_tables(const Topology& topology, const ScheduleTables& tables);

}  // namespace espalier
