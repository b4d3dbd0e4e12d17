// An entry of an NI's schedule table (MultiTree, section IV-A, Fig. 5).
#pragma once

#include <cstdint>
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

}  // namespace espalier
