// hw/rtl/dimension_queue.v in place of the arbiter of a dimension queue.
#pragma once

#include <cstddef>
#include <memory>

#include "ni/engines/dimension_arbiter.h"

namespace espalier {

// Sizes of the Verilog that is compiled into the program.
inline constexpr std::size_t kRtlQueueStages = 256;
inline constexpr Cycle kRtlLongestArbitration = 1024;

// An arbiter that clocks the Verilog in every cycle that the NI decides and in which a register can
// change. Throws std::logic_error if a choice begins or ends in a cycle in which the NI rests, and
// std::invalid_argument beyond the limits above and in programs without Verilog models.
[[nodiscard]] std::unique_ptr<DimensionArbiter> make_rtl_arbiter(const ArbiterSpec& spec,
                                                                 Cycle arbitration,
                                                                 std::size_t stages);

}  // namespace espalier
