#include "sims/config/build_topology.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "sims/config/topology_file.h"
#include "sims/config/yaml_loader.h"

namespace espalier {

namespace {

std::optional<Topology> build_grid(const SystemConfig& system, const Place& place,
                                   Diagnostics& diagnostics) {
  std::size_t nodes = 1;
  for (const std::uint32_t size : system.topology.dims) nodes *= size;
  const std::string shape = fmt::format("{}", fmt::join(system.topology.dims, "x"));
  if (nodes < 2) {
    diagnostics.error(place, fmt::format("a network has at least 2 nodes; {} has {}", shape, nodes),
                      "for example [4, 4]");
    return std::nullopt;
  }
  if (nodes > kMostNodes) {
    diagnostics.error(place, fmt::format("{} has {} nodes; at most {}", shape, nodes, kMostNodes));
    return std::nullopt;
  }
  return system.topology.kind == TopologyKind::torus ? make_torus(system.topology.dims, system.link)
                                                     : make_mesh(system.topology.dims, system.link);
}

}  // namespace

std::string topology_file_path(const TopologyConfig& config) {
  return (std::filesystem::path(config.folder) / config.file).string();
}

std::optional<Topology> build_topology(const SystemConfig& system, bool clock_valid,
                                       const Place& place, Diagnostics& diagnostics) {
  if (system.topology.kind != TopologyKind::file) return build_grid(system, place, diagnostics);
  const std::string path = topology_file_path(system.topology);
  const FileText file = read_file_text(path);
  if (!file.text) {
    diagnostics.error(place, fmt::format("'{}' {}", path, file.problem),
                      "the path is relative to the configuration's folder");
    return std::nullopt;
  }
  TopologyFileContext context;
  context.default_link = system.link;
  if (clock_valid) context.clock = system.clock;
  return parse_topology(path, *file.text, context, diagnostics);
}

Topology build_topology(const SystemConfig& system) {
  Diagnostics diagnostics;
  const Place nowhere{diagnostics.add_file("system.topology", ""), 0, 0};
  auto topology = build_topology(system, true, nowhere, diagnostics);
  if (!topology) throw std::invalid_argument(diagnostics.text());
  return std::move(*topology);
}

}  // namespace espalier
