#include "sims/model/build_topology.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "hw/topology/families/family.h"
#include "sims/formats/networks/network_formats.h"
#include "sims/formats/routes_file.h"
#include "sims/formats/topology_file.h"
#include "sims/model/build_dimensions.h"
#include "sims/point/system_config.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

std::optional<Topology> read_graph(const SystemConfig& system, bool clock_valid, const Place& place,
                                   Diagnostics& diagnostics) {
  const std::string path = topology_file_path(system.topology);
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return std::nullopt;
  TopologyFileContext context;
  context.default_link = system.link;
  context.flow_control = system.flow_control;
  if (clock_valid) context.clock = system.clock;
  return system.topology.family().source == Family::Source::anynet_file
             ? parse_anynet(path, *text, context, diagnostics)
             : read_network(path, *text, context, diagnostics);
}

}  // namespace

std::uint64_t fastest_link(const SystemConfig& system) {
  const TopologyConfig& config = system.topology;
  std::uint64_t fastest = system.link.bytes_per_second;
  for (const FamilyKey& key : config.family().keys) {
    if (key.kind != FamilyKey::Kind::bandwidth) continue;
    for (const std::uint64_t rate : config.numbers(key.name)) fastest = std::max(fastest, rate);
  }
  if (config.family().source != Family::Source::graph_file) return fastest;
  Diagnostics unheard;
  const Place nowhere{unheard.add_file(config.file, ""), 0, 0};
  if (const auto graph = read_graph(system, false, nowhere, unheard)) {
    for (const TopologyLink& link : graph->links()) {
      fastest = std::max(fastest, link.spec.bytes_per_second);
    }
  }
  return fastest;
}

std::string topology_file_path(const TopologyConfig& config) {
  return (std::filesystem::path(config.folder) / config.file).string();
}

bool finish_network(Topology& topology, const SystemConfig& system, const Place& place,
                    Diagnostics& diagnostics) {
  if (system.topology.family().source != Family::Source::keys && system.topology.without.empty()) {
    const bool one_class =
        system.router.switching == Switching::wormhole && system.router.hold == SwitchHold::packet;
    auto family = recognised_family(topology);
    const std::uint32_t classes = family ? family->shape().vc_classes.least : 0;
    // Otherwise up*/down* routes, which need one class, keep the graph free of deadlock.
    if (family && classes <= (one_class ? 1 : system.router.vcs)) topology = *std::move(family);
  }
  RouteTable table;
  if (system.routing.kind == Routing::table) {
    const auto path =
        (std::filesystem::path(system.topology.folder) / system.routing.file).string();
    const auto text = read_named_file(path, place, diagnostics);
    const auto rows = text ? parse_route_rows(path, *text, diagnostics) : std::nullopt;
    if (rows && rows->adaptive) {
      diagnostics.error(place, "system.routing_file: routers take no choices; it needs routes",
                        "a table with the header from,to,path");
    }
    auto listed =
        rows && !rows->adaptive ? route_table(*rows, topology, diagnostics) : std::nullopt;
    if (!listed) return false;
    table = *std::move(listed);
  }
  const std::string problem =
      choose_routes(topology, system.routing.kind, system.routing.seed, table);
  if (problem.empty()) return true;
  diagnostics.error(place, "system.routing: " + problem, "system.routing: auto");
  return false;
}

std::optional<Topology> build_topology(const SystemConfig& system, bool clock_valid,
                                       const TopologyPlaces& places, Diagnostics& diagnostics) {
  if (system.topology.is_dimensional()) return make_dimensions(dimension_specs(system));
  std::optional<Topology> whole;
  if (system.topology.family().source != Family::Source::keys) {
    whole = read_graph(system, clock_valid, places.network, diagnostics);
  } else if (const auto problem = problem_of(system.topology)) {
    diagnostics.error(places.network, problem->what, problem->hint);
  } else {
    whole = make_network(system.topology, system.link);
  }
  if (whole && !system.topology.without.empty()) {
    whole = without_broken(*whole, system.topology.without, places.parts, diagnostics);
  }
  if (whole && !finish_network(*whole, system, places.routes, diagnostics)) return std::nullopt;
  return whole;
}

Topology build_topology(const SystemConfig& system) {
  Diagnostics diagnostics;
  const Place nowhere{diagnostics.add_file("system.topology", ""), 0, 0};
  auto topology = build_topology(system, true, {nowhere, nowhere, nowhere}, diagnostics);
  if (!topology) throw std::invalid_argument(diagnostics.text());
  return std::move(*topology);
}

}  // namespace espalier
