// Schedules as text for users: the names of transfers and links, the tables of the paper's Fig. 5,
// and graphs.
#pragma once

#include <iosfwd>
#include <string>

#include "alg/schedule/schedule.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"

namespace espalier {

// E.g. "reduce of flow 3 from 1 to 0 in step 2".
[[nodiscard]] std::string describe(const Transfer& transfer);
// E.g. "entry 2 of node 0 (Reduce of flow 1 in step 2)".
[[nodiscard]] std::string describe(const ScheduleTables& tables, NodeId node, std::size_t entry);
// Vertex and output port, e.g. "r_0_1.e".
[[nodiscard]] std::string link_name(const Topology& topology, LinkId link);
// The names of a route's vertices, e.g. "n_0 s_0 n_1".
[[nodiscard]] std::string route_names(const Topology& topology, const RouteSet& routes,
                                      RouteId route);
// E.g. "longest route: 2 links, n_0 s_0 n_1"; an empty text if every route is one link.
[[nodiscard]] std::string longest_route(const Topology& topology, const RouteSet& routes);

// Writes one block per node with the columns Op, FlowID, Parent, Children, Step, Start Addr, Size,
// and After if any entry has it. "nil" stands for none. Rows that repeat also have First Pass,
// Count, the strides of flow and address, and the last message's size; if a node has several loops,
// each is named.
void write_table_text(std::ostream& out, const ScheduleTables& tables);

// Writes a Graphviz file: one cluster per flow, and an edge per transfer with its step as label.
// Reduces are dashed.
void write_dot(std::ostream& out, const Schedule& schedule);

}  // namespace espalier
