// Routes that a user chooses in place of a network's own, with VC classes that keep all of them
// together free of deadlock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

enum class Routing : std::uint8_t {
  automatic,        // the network's own
  dimension_order,  // its own, which must be a grid's
  up_down,
  shortest,  // ties go to the lower port
  ecmp,      // one of the shortest paths, by a hash of the pair
  split,     // messages of a pair take its shortest paths in turn, from the hash's path on
  table      // as a file lists; pairs without a line have the network's own route
};

struct ListedRoute {
  std::vector<LinkId> links;
  std::vector<std::uint32_t> classes;  // by hop; empty: any class
};
// By pair: messages take these routes in turn.
using RouteTable = std::map<std::pair<NodeId, NodeId>, std::vector<ListedRoute>>;

// With `split`, messages of a pair take at most this many paths.
inline constexpr std::uint32_t kMostSplit = 8;
// All pairs are searched for waits that could close a cycle.
inline constexpr std::size_t kMostRoutedNodes = 2048;

// Puts routes and VC classes into the network's shape. In each class, routes may turn from link to
// link as long as no cycle of such waits closes; from a turn that would close one, a packet goes on
// in the next class. So waits form no cycle within a class, and none between classes, which only
// grow along a route (compare LASH-TOR; Skeie et al., CCGrid 2004).
// Returns why the network cannot have the routes, or an empty text. Precondition: connected.
[[nodiscard]] std::string choose_routes(Topology& topology, Routing routing, std::uint64_t seed,
                                        const RouteTable& table);

}  // namespace espalier
