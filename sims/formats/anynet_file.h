// Networks in the format of BookSim 2's `anynet` (its src/networks/anynet.cpp):
//
//   router 0 node 0 node 1 5 router 1 15 router 2
//   router 1 node 2
//   node 3 router 2
//
// A line links what it starts with to each of the others. The number behind one, if any, is the
// link's latency in router cycles; without it the latency is system.link.latency, where BookSim has
// one cycle. Between a router and a node the latency is that of both ways. Between two routers it
// is that of the way there; the way back exists too, with the default latency unless some line
// gives it. A link that is listed twice is one link, as in BookSim: two routers never have parallel
// ones. Beyond BookSim: '#' starts a comment, tabs are blanks, and a line that starts with a node
// may give its latency.
//
// Node i becomes n_<i>, router i the switch sw_<i>. Ports are in BookSim's order: a router's nodes
// by number, then routers by number.
#pragma once

#include <optional>
#include <string>

#include "sims/formats/topology_file.h"

namespace espalier {

// `file_name` is for messages and names the network.
[[nodiscard]] std::optional<Topology> parse_anynet(const std::string& file_name,
                                                   const std::string& text,
                                                   const TopologyFileContext& context,
                                                   Diagnostics& diagnostics);

}  // namespace espalier
