#include "sims/system/elaboration.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hw/topology/vertex_names.h"
#include "sims/point/system_config.h"

namespace espalier {

namespace {

constexpr const char* kExternalRouters = "system.topology.external.routers";
constexpr const char* kExternalNis = "system.topology.external.nis";
const std::vector<NodeId> kNone;

}  // namespace

sc_core::sc_clock& Elaboration::clock() {
  if (fabric_.sockets() == nullptr) {
    throw std::invalid_argument(
        "no router and no NI is external, so there is no clock for modules; name some in "
        "system.topology.external");
  }
  return fabric_.sockets()->clock.clock();
}

std::string Elaboration::names(const std::vector<NodeId>& vertices) const {
  std::vector<std::string> names;
  for (const NodeId vertex : vertices) names.push_back(fabric_.topology().vertex_name(vertex));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

NodeId Elaboration::find(const std::string& vertex, const char* key,
                         const std::vector<NodeId>& external) const {
  const NodeId found = find_vertex(fabric_.topology(), vertex);
  if (std::find(external.begin(), external.end(), found) != external.end()) return found;
  throw std::invalid_argument(
      fmt::format("'{}' is not in {}, which names: {}", vertex, key, names(external)));
}

RouterSignals& Elaboration::router(const std::string& vertex) {
  Sockets* const sockets = fabric_.sockets();
  const NodeId found =
      find(vertex, kExternalRouters, sockets == nullptr ? kNone : sockets->parts.routers);
  attached_.insert(found);
  return sockets->routers.at(found)->ports();
}

NiSignals& Elaboration::ni(const std::string& node) {
  Sockets* const sockets = fabric_.sockets();
  const NodeId found = find(node, kExternalNis, sockets == nullptr ? kNone : sockets->parts.nis);
  attached_.insert(found);
  return sockets->nis.at(found)->ports();
}

void Elaboration::show(const std::string& vertex, RtlSignal signal) {
  Sockets* const sockets = fabric_.sockets();
  const NodeId at = find_vertex(fabric_.topology(), vertex);
  if (sockets == nullptr || attached_.count(at) == 0) {
    throw std::invalid_argument(
        fmt::format("'{}' has no ports yet; ask for them before signals are shown", vertex));
  }
  if (const auto ni = sockets->nis.find(at); ni != sockets->nis.end()) {
    ni->second->add_own(std::move(signal));
  } else {
    sockets->routers.at(at)->add_own(std::move(signal));
  }
}

void Elaboration::check_attached() const {
  const Sockets* const sockets = fabric_.sockets();
  if (sockets == nullptr) return;
  std::vector<NodeId> left;
  for (const NodeId vertex : sockets->parts.routers) {
    if (attached_.count(vertex) == 0) left.push_back(vertex);
  }
  for (const NodeId node : sockets->parts.nis) {
    if (attached_.count(node) == 0) left.push_back(node);
  }
  if (left.empty()) return;
  throw std::invalid_argument(fmt::format(
      "system.topology.external: no module is attached to {}; SimulationHooks::elaborate of the "
      "program asks for its ports and binds them (docs/plug_in.md)",
      names(left)));
}

}  // namespace espalier
