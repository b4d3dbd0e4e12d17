// A network as a file of another tool describes it, and the network that is made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/formats/topology_file.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct DrawnVertex {
  std::string name;  // any text
  std::string kind;  // "NIC", for the note about parts that are left out
  bool is_node = false;
  bool is_joint = false;  // a port or slot: with two links it is a part of the cable
};

struct DrawnLink {
  std::size_t a = 0;
  std::size_t b = 0;
  std::uint64_t bytes_per_second = 0;  // 0: as system.link
  std::uint64_t latency_ps = 0;        // 0: as system.link
  std::uint32_t count = 1;             // parallel links
  Place place = {};
  bool one_way = false;  // from a to b
  // Links of CPUs, and PCIe with them, are left out where the other links join all nodes, because
  // GPUs send nothing over CPUs that have another way.
  enum class Kind : std::uint8_t { network, pcie, cpu };
  Kind kind = Kind::network;
  // What the reader assumed of the link: "NVLink 20.6 GB/s, from sm 90".
  std::string assumed = {};
};

// Filled in by a reader. A mistake is an error in the diagnostics.
struct DrawnNetwork {
  SourceIndex source = 0;
  std::string name;  // empty: the file's
  std::vector<DrawnVertex> vertices;
  std::vector<DrawnLink> links;
  std::vector<std::string> notes;  // about the whole file

  std::size_t add(const std::string& vertex, const std::string& kind, bool is_node) {
    vertices.push_back({vertex, kind, is_node, false});
    return vertices.size() - 1;
  }
};

// Names become words of letters, digits and underscores; ports are named after the vertex behind
// them. Dead ends, for instance NICs of a single server, are left out. One warning says what the
// reader assumed and what is left out.
[[nodiscard]] std::optional<Topology> make_drawn(DrawnNetwork drawn, const std::string& file_name,
                                                 const TopologyFileContext& context,
                                                 Diagnostics& diagnostics);

}  // namespace espalier
