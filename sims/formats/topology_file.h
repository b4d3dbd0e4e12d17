// Reads networks from files, and checks the rules for links.
#pragma once

#include <optional>
#include <string>

#include "hw/topology/families/family.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "sims/formats/link_rules.h"
#include "sims/point/router_config.h"
#include "sims/text/diagnostics.h"
#include "sims/text/values.h"

namespace espalier {

// The keys system.link.latency and system.link.bandwidth, and the fields of a link in a file.
[[nodiscard]] ValueShape link_latency_shape();
[[nodiscard]] ValueShape link_bandwidth_shape();

struct TopologyFileContext {
  LinkSpec default_link;
  // For checks of links. Empty if the configuration's clock is invalid.
  std::optional<ClockSpec> clock;
  FlowControlConfig flow_control;  // for the values that an error proposes
};

// A graph in YAML:
//
//   name: my graph             # optional
//   nodes: [a, b, {name: c, at: [0, 1]}]   # accelerators, in the order of their ids
//   switches: [s0]             # optional
//   links:
//     - {between: [a, s0], latency: 150ns, bandwidth: 16GB/s, count: 2}   # two links each way
//     - {from: a, to: b}                                                  # one direction
//
// latency and bandwidth default to system.link's, count to 1. `at` is a vertex's place in pictures,
// x, y and a layer z; all vertices have one, or none. Ports are in the order of
// links: the link to s0 is a's output to_s0, the second one to_s0_1, and they enter s0 at from_a
// and from_a_1. `file_name` is for messages, and is the default name of the network.
[[nodiscard]] std::optional<Topology> parse_topology(const std::string& file_name,
                                                     const std::string& text,
                                                     const TopologyFileContext& context,
                                                     Diagnostics& diagnostics);

// Networks in the format of BookSim 2's `anynet` (its src/networks/anynet.cpp):
//
//   router 0 node 0 node 1 5 router 1 15 router 2
//   router 1 node 2
//   node 3 router 2
//
// A line links its first vertex to each of the others. A number behind a vertex is the link's
// latency in router cycles; the default is system.link.latency, in BookSim one cycle. The latency
// between a router and a node holds for both directions. Between two routers it holds for the given
// direction; the opposite link has the default latency unless a line gives it. As in BookSim, a
// link that is listed twice is one link, so routers have no parallel links. Beyond BookSim: '#'
// starts a comment, tabs are blanks, and a line that starts with a node may give its latency.
//
// Node i is called n_<i>, router i is the switch sw_<i>. Ports are in BookSim's order: a router's
// nodes by number, then routers by number. `file_name` is for messages and names the network.
[[nodiscard]] std::optional<Topology> parse_anynet(const std::string& file_name,
                                                   const std::string& text,
                                                   const TopologyFileContext& context,
                                                   Diagnostics& diagnostics);

}  // namespace espalier
