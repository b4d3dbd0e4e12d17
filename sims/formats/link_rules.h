// What a link demands of flits, packets and the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/topology/link_timing.h"
#include "sims/point/router_config.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// Sizes in bytes that fit together: a link of some rate carries at most one flit per cycle, a
// payload is a multiple of a flit, and a sub-message a multiple of a payload.
struct PacketSizes {
  std::uint32_t flit = 0;  // a power of two, at least 16
  Bytes payload = 0;
  Bytes sub_message = 0;
};

// The smallest sizes for links of `bytes_per_second` that are at least the sizes of `flow_control`.
// nullopt if no flit is wide enough.
[[nodiscard]] std::optional<PacketSizes> packet_sizes_for(std::uint64_t bytes_per_second,
                                                          std::uint64_t hertz,
                                                          const FlowControlConfig& flow_control);

// The keys to change so that a configuration has these sizes: "set system.router.flit_bytes: 64".
[[nodiscard]] std::string proposal(const PacketSizes& sizes, const FlowControlConfig& flow_control);

struct LinkRateRule {
  ClockSpec clock;
  FlowControlConfig flow_control;
  std::uint64_t fastest = 0;  // B/s of the fastest link; the proposed sizes suit it, too
};

// Records an error, with sizes that would do, if a link would carry more than one flit per cycle.
void check_link_rate(std::uint64_t bytes_per_second, const LinkRateRule& rule, const Place& place,
                     Diagnostics& diagnostics);
// Warns if a time is not a whole number of router cycles. `what` names the time.
void check_whole_cycles(const char* what, std::uint64_t picoseconds, const ClockSpec& clock,
                        const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
