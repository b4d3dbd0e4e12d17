#include "sims/config/tenant_checks.h"

#include <fmt/format.h>

#include "sims/model/build_topology.h"
#include "sims/text/units.h"

namespace espalier {

void check_tenants(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                   Diagnostics& diagnostics) {
  if (topology == nullptr) return;
  const auto& shape = topology->data_center();
  if (!shape || shape->racks() < 2) {
    diagnostics.error(given.place_of_section("tenants"),
                      "tenants: their flows go from rack to rack, and this network has none",
                      "system.topology: {type: data_center, ...} with two racks or more");
    return;
  }
  if (!given.usable({"tenants.rate", "system.link.bandwidth",
                     "system.topology.aggregation_link.bandwidth"})) {
    return;
  }
  const LinkSpec uplink = data_center_links(point.system.topology, point.system.link).aggregation;
  if (point.tenants->bytes_per_second <= uplink.bytes_per_second) return;
  diagnostics.error(
      given.place_of("tenants.rate"),
      fmt::format("tenants.rate: a flow keeps to one uplink of its rack, and that has {}",
                  format_quantity(Quantity::rate, uplink.bytes_per_second)),
      fmt::format("at most {}", format_quantity(Quantity::rate, uplink.bytes_per_second)));
}

}  // namespace espalier
