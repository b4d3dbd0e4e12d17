// hw/rtl/output_hold.v in place of a router's decisions.
#pragma once

#include <cstdint>
#include <memory>

#include "router/output_hold.h"

namespace espalier {

// Sizes of the Verilog that is compiled into the program.
inline constexpr std::uint32_t kRtlPorts = 16;
inline constexpr std::uint32_t kRtlVcs = 16;

// Shows the Verilog the requests of a cycle and the flits that leave, and clocks it in cycles with
// a grant or a flit that leaves; other clocks change nothing. Throws std::invalid_argument beyond
// the limits above, or in programs without Verilog models (has_rtl() in ni/rtl).
[[nodiscard]] std::unique_ptr<OutputHold> make_rtl_output_hold(const HoldSpec& spec);

}  // namespace espalier
