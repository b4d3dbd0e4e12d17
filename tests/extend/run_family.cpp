// Reads configurations of the family that wheel.cpp adds: keys, limits and errors, the network with
// its routes, and a certified schedule on it.
#include <fmt/format.h>

#include <string>
#include <systemc>

#include "alg/certify/certifier.h"
#include "alg/generators/generator.h"
#include "alg/routes/routing.h"
#include "alg/schedule/schedule_table.h"
#include "sims/config/keys.h"
#include "sims/config/reader.h"

namespace {

using namespace espalier;

ConfigResult read(const std::string& topology) {
  return read_run_config_text("wheel.yaml", "system: {topology: {" + topology +
                                                "}}\ncollective: {algorithm: ring, size: 4KiB}\n");
}

// Whether the configuration is refused for this reason.
bool is_refused(const std::string& topology, const std::string& why) {
  const ConfigResult result = read(topology);
  const bool refused = !result.ok && result.diagnostics.find(why) != std::string::npos;
  if (!refused) fmt::print("expected: {}\n{}\n", why, result.diagnostics);
  return refused;
}

}  // namespace

int sc_main(int, char**) {
  const ConfigResult result = read("type: wheel, rim: 5, spoke: {bandwidth: 4GB/s}");
  if (!result.ok) {
    fmt::print("{}\n", result.diagnostics);
    return 1;
  }
  const Topology& wheel = *result.topology;
  const auto route = [&](std::size_t to) { return route_packet(wheel, NodeId(0), NodeId(to)); };
  const auto spoke = wheel.link(route(2).front()).spec.bytes_per_second;
  CollectiveRequest request;
  request.size = 4000;
  const Schedule schedule = find_generator("ring")->generate(wheel, request);
  const Certificate certificate = certify(wheel, lower_to_tables(schedule));
  const bool refuses =
      is_refused("type: wheel, rim: 2", "system.topology.rim: 2 is out of range") &&
      is_refused("type: wheel, rim: 5000", "wheel 5000 has 5000 ports at one router") &&
      is_refused("type: torus, dims: [4], rim: 5", "only where system.topology.type is wheel") &&
      is_refused("type: wheel, rim: 5, spoke: {bandwidth: 900GB/s}", "a link carries at most");
  fmt::print("{}: {} links, {} and {} hops, spokes of {} B/s, {} violations, {}\n", wheel.name(),
             wheel.num_links(), route(1).size(), route(2).size(), spoke,
             certificate.violations.size(), find_key("system.topology.rim")->description);
  return refuses && certificate.ok() ? 0 : 1;
}
