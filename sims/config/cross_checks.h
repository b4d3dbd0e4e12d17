// Rules that join several keys, each reported where the reader of the file would look first.
#pragma once

#include <vector>

#include "hw/topology.h"
#include "sims/config/config.h"
#include "sims/config/diagnostics.h"
#include "sims/config/given_keys.h"

namespace espalier {

// Precondition: `points` is one file's cross product, not empty. A rule is skipped where a key it
// needs was given with an invalid value: that is reported already. `topology` is nullptr where it
// could not be built.
void check_points(const std::vector<RunPoint>& points, const Topology* topology,
                  const GivenKeys& given, Diagnostics& diagnostics);

// Flits of the longest packet or sub-packet, its head flit included.
[[nodiscard]] std::uint64_t longest_packet_flits(const SystemConfig& system);

// VC depth with which a lone stream over `link` never waits for credits: what is on the way out and
// back, and the rest of a packet that must fit as a whole (the paper's 318 flits). A slower link
// has fewer flits on the way. `packet_flits`: of the longest packet, its head flit included.
[[nodiscard]] std::uint64_t full_rate_depth(const SystemConfig& system, const LinkSpec& link,
                                            std::uint64_t packet_flits);
[[nodiscard]] inline std::uint64_t full_rate_depth(const SystemConfig& system,
                                                   const LinkSpec& link) {
  return full_rate_depth(system, link, longest_packet_flits(system));
}

}  // namespace espalier
