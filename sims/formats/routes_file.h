// Tables of routes:
//
//   from,to,path
//   a,c,s0 s1 c
//   a,d,s0/1@0 d@1
//
// A row is a route of the pair; messages of a pair with several rows take them in turn. The path
// names every vertex behind `from`, the last one is `to`. A name may end in /K, the link K (0: the
// first) of parallel links that lead there, and in @C, the VC class at the end of this link. '#'
// starts a comment. With the header `at,to,next`, a row lists the links from vertex `at` among
// which an adaptive router chooses for packets to `to`. '!' behind a link marks an escape channel
// (Duato).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/routes/chosen_routes.h"
#include "hw/topology/topology.h"
#include "sims/text/diagnostics.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

struct RouteHop {
  ConfigNode vertex;
  std::uint32_t parallel = 0;
  std::optional<std::uint32_t> vc_class;
  bool escape = false;
};

struct RouteRow {
  ConfigNode from;
  ConfigNode to;
  std::vector<RouteHop> hops;
};

struct RouteRows {
  bool adaptive = false;  // rows are choices
  std::vector<RouteRow> rows;
};

[[nodiscard]] std::optional<RouteRows> parse_route_rows(const std::string& file_name,
                                                        const std::string& text,
                                                        Diagnostics& diagnostics);

// The vertices and links that the rows name. Ends of routes are nodes.
[[nodiscard]] Topology network_of(const RouteRows& rows, const std::string& name);

// The link that a hop from `at` takes. Reports a hop that the network does not have.
[[nodiscard]] LinkId hop_link(const Topology& topology, NodeId at, const RouteHop& hop,
                              Diagnostics& diagnostics);

// Nothing after an error. Precondition: not adaptive.
[[nodiscard]] std::optional<RouteTable> route_table(const RouteRows& rows, const Topology& topology,
                                                    Diagnostics& diagnostics);

}  // namespace espalier
