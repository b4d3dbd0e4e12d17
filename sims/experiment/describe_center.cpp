#include "sims/experiment/describe_center.h"

#include "sims/model/build_topology.h"

namespace espalier {

using Json = nlohmann::ordered_json;

namespace {

// Of all racks together, one way.
double uplink_bytes_per_second(const SystemConfig& system) {
  const TopologyConfig& c = system.topology;
  const LinkSpec uplink = data_center_links(c, system.link).aggregation;
  return static_cast<double>(c.pods) * c.racks_per_pod * c.rack_uplinks *
         static_cast<double>(uplink.bytes_per_second);
}

// Loads are shares of what the racks' uplinks carry.
Json describe_tenants(const RunPoint& point, const TenantStatistics& statistics) {
  const double ns = nanoseconds(statistics.duration, point.system.clock);
  const double capacity = uplink_bytes_per_second(point.system) / 1e9;
  const double offered = static_cast<double>(statistics.posted_bytes) / ns;
  const double accepted = static_cast<double>(statistics.bytes) / ns;
  Json tenants;
  tenants["flows"] = point.tenants->flows;
  tenants["message_bytes"] = point.tenants->message_bytes;
  tenants["messages"] = statistics.messages;
  tenants["bytes"] = statistics.bytes;
  tenants["offered_GBps"] = offered;
  tenants["accepted_GBps"] = accepted;
  tenants["offered_load"] = offered / capacity;
  tenants["accepted_load"] = accepted / capacity;
  tenants["latency_mean_cycles"] = statistics.mean_cycles;
  return tenants;
}

}  // namespace

void describe_center(Json& result, const RunPoint& point, const SimulationOutcome& outcome) {
  if (point.system.topology.kind != TopologyKind::data_center) return;
  const Oversubscription ratios = oversubscription(point.system);
  result["oversubscription"]["rack"] = ratios.rack;
  if (ratios.aggregation != 0) result["oversubscription"]["aggregation"] = ratios.aggregation;
  if (outcome.tenants) result["tenants"] = describe_tenants(point, *outcome.tenants);
}

}  // namespace espalier
