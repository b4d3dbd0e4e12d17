// The length of a configuration's packets, and the buffers that keep a link busy.
#pragma once

#include <cstdint>

#include "hw/link_spec.h"

namespace espalier {

struct SystemConfig;

// Flits of the longest packet or sub-packet, its head flit included.
[[nodiscard]] std::uint64_t longest_packet_flits(const SystemConfig& system);

// VC depth with which a single stream over `link` never waits for credits: the flits and credits in
// flight during a round trip, plus the rest of a packet that must fit as a whole (the paper's 318
// flits). On a slower link fewer flits are in flight. `packet_flits` is the length of the longest
// packet, including its head flit.
[[nodiscard]] std::uint64_t full_rate_depth(const SystemConfig& system, const LinkSpec& link,
                                            std::uint64_t packet_flits);
[[nodiscard]] inline std::uint64_t full_rate_depth(const SystemConfig& system,
                                                   const LinkSpec& link) {
  return full_rate_depth(system, link, longest_packet_flits(system));
}

}  // namespace espalier
