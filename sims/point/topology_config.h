// Sections system.topology and system.dimensions as written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/plans/dimension_stage.h"
#include "alg/routes/chosen_routes.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/families/family.h"

namespace espalier {

// Vertices' names as written. A program that links the library attaches its own SystemC modules in
// place of the named routers and of the named nodes' NIs (sims/system/elaboration.h).
struct ExternalConfig {
  std::vector<std::string> routers;
  std::vector<std::string> nis;

  [[nodiscard]] bool any() const { return !routers.empty() || !nis.empty(); }
};

// Keys system.routing.*.
struct RoutingConfig {
  Routing kind = Routing::automatic;
  std::uint64_t seed = 1;  // of ecmp and split
  std::string file;        // of a table; relative to TopologyConfig::folder
};

struct TopologyConfig : NetworkSpec {
  // Of a network from a file: path as written, relative to `folder`.
  std::string file;
  std::string folder;                // of the configuration; empty: the current one
  std::vector<std::string> without;  // parts that are taken out: "node 5", "link 3-4", as written
  ExternalConfig external;

  [[nodiscard]] bool is_dimensional() const { return family().is_dimensional(); }
};

// A multi-dimensional system as written in the file. Lists have an entry for each dimension; 0 and
// an empty list stand for "auto". sims/model/build_dimensions.h computes the real values.
struct DimensionsConfig {
  std::vector<DimensionShape> shape;
  std::vector<std::uint32_t> size;              // NPUs of a group
  std::vector<std::uint32_t> links;             // links that leave an NPU
  std::vector<std::uint64_t> bytes_per_second;  // of one link
  std::vector<std::uint64_t> latency_ps;        // NPU to NPU, of a minimal message
  std::vector<std::uint32_t> flit_bytes;
  std::uint32_t packet_flits = 16;  // payload of a packet or sub-packet, in every dimension
  std::vector<std::uint32_t> vc_depth_flits;
  std::vector<std::optional<DimensionAlgorithm>> algorithm;
  // What a port of a switch with in_network adds in a cycle. 0 ("ni"): as ni.reduction says.
  std::uint64_t switch_bytes_per_cycle = 0;
};

}  // namespace espalier
