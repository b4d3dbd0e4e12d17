#include "sims/model/build_topology.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "hw/topology/families/family.h"
#include "sims/formats/astra_network_file.h"
#include "sims/formats/networks/network_formats.h"
#include "sims/formats/routes_file.h"
#include "sims/formats/topology_file.h"
#include "sims/model/build_dimensions.h"
#include "sims/point/system_config.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

// ASTRA-sim's network.yml as one network. As in a system of dimensions, a latency is from NPU to
// NPU, so the cycles of NIs and routers are a part of it. All flits are as wide as the routers'.
std::optional<Topology> read_joined(const std::string& path, const std::string& text,
                                    SystemConfig system, const Place& place,
                                    Diagnostics& diagnostics) {
  const auto network = parse_astra_network(path, text, system.clock, diagnostics);
  if (!network) return std::nullopt;
  system.dimensions = network->dimensions;
  system.dimensions.flit_bytes.assign(network->dimensions.size.size(), system.clock.flit_bytes);
  try {
    return make_joined(dimension_specs(system));
  } catch (const std::invalid_argument& error) {
    diagnostics.error(place, error.what(), "a longer latency, or a faster system.router.clock");
    return std::nullopt;
  }
}

std::optional<Topology> read_graph(const SystemConfig& system, bool clock_valid, const Place& place,
                                   Diagnostics& diagnostics) {
  const std::string path = topology_file_path(system.topology);
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return std::nullopt;
  if (network_type(*text) == family_of(Family::Source::astra_file)) {
    return read_joined(path, *text, system, place, diagnostics);
  }
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

bool joins_dimensions(const SystemConfig& system) {
  if (system.topology.family().source != Family::Source::graph_file) return false;
  const FileText file = read_kept_file(topology_file_path(system.topology));
  return file.text && network_type(*file.text) == family_of(Family::Source::astra_file);
}

std::string topology_file_path(const TopologyConfig& config) {
  return path_from(config.folder, config.file);
}

bool finish_network(Topology& topology, const SystemConfig& system, const Place& place,
                    Diagnostics& diagnostics) {
  if (system.topology.family().source != Family::Source::keys && system.topology.without.empty()) {
    const bool one_class =
        system.router.switching == Switching::wormhole && system.router.hold == SwitchHold::packet;
    auto family = recognised_family(topology);
    const std::uint32_t classes = family ? family->shape().vc_classes.least : 0;
    // Otherwise up*/down* routes, which need one class, keep the graph free of deadlock.
    if (family && classes <= (one_class ? 1 : system.router.vcs)) {
      NetworkShape shape = family->shape();
      shape.joined = topology.shape().joined;
      topology = *std::move(family);
      topology.set_shape(std::move(shape));
    }
  }
  RouteTable table;
  if (system.routing.kind == Routing::table) {
    const auto path = path_from(system.topology.folder, system.routing.file);
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
