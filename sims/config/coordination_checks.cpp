#include "sims/config/coordination_checks.h"

#include <fmt/format.h>

#include <vector>

#include "sims/config/keys.h"

namespace espalier {

namespace {

// Up to here it is tried; a ring among more ranks takes hours.
constexpr std::size_t kMostNetworkRanks = 4096;

void check_planes(const RunPoint& point, std::size_t ranks, const GivenKeys& given,
                  Diagnostics& diagnostics) {
  const CoordinationConfig& config = *point.coordination;
  const Place data = given.place_of_first({"coordination.data_plane", "coordination.mode"});
  const bool control = is_on_network(config.control_plane, ranks, kMostControlRanks);
  const bool reduces = is_on_network(config.data_plane, ranks, kMostDataRanks);
  if (reduces && !control) {
    diagnostics.error(data,
                      "coordination.data_plane: all-reduces in the network need messages there",
                      "coordination.control_plane: network");
  }
  if (control && ranks > kMostNetworkRanks) {
    diagnostics.error(given.place_of("coordination.control_plane"),
                      fmt::format("coordination.control_plane: {} ranks are more than the {} that "
                                  "are simulated in a network",
                                  ranks, kMostNetworkRanks),
                      "coordination.control_plane: closed_form");
  }
}

void refuse_section(const char* section, const char* why, const GivenKeys& given,
                    Diagnostics& diagnostics) {
  if (!given.has_section(section)) return;
  diagnostics.error(given.place_of_section(section), fmt::format("{}: {}", section, why));
}

// Arithmetic takes the network as it should be.
void refuse_faults(const RunPoint& point, std::size_t ranks, const GivenKeys& given,
                   Diagnostics& diagnostics) {
  const CoordinationConfig& config = *point.coordination;
  const bool control = is_on_network(config.control_plane, ranks, kMostControlRanks);
  const bool data = is_on_network(config.data_plane, ranks, kMostDataRanks);
  if (control && data) return;
  for (const char* fault : {"faults.slow_links", "faults.dma_jitter.max_cycles"}) {
    if (!given.is_given(fault)) continue;
    diagnostics.error(given.place_of(fault),
                      fmt::format("{}: there are no faults in closed form", fault),
                      control ? "coordination.data_plane: network"
                              : "coordination.control_plane: network and data_plane: network");
  }
}

}  // namespace

void check_coordination(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                        Diagnostics& diagnostics) {
  if (!point.coordination) return;
  refuse_section("control", "hosts that coordinate have messages of their own", given, diagnostics);
  for (const char* fault : {"faults.late_nis", "faults.clock_skew"}) {
    if (!given.is_given(fault)) continue;
    diagnostics.error(given.place_of(fault),
                      fmt::format("{}: hosts that coordinate have clocks of their own", fault),
                      "coordination.rank_skew and coordination.jitter delay them");
  }
  refuse_section("tenants", "results of coordinated jobs do not tell of other tenants", given,
                 diagnostics);
  if (topology != nullptr) refuse_faults(point, topology->num_nodes(), given, diagnostics);
  if (topology != nullptr) check_planes(point, topology->num_nodes(), given, diagnostics);
}

}  // namespace espalier
