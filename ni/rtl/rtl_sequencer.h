// hw/rtl/ni_control.v in place of the sequencer of a schedule table.
#pragma once

#include <cstdint>
#include <memory>

#include "ni/engines/table_sequencer.h"

namespace espalier {

// Sizes of the Verilog that is compiled into the program.
inline constexpr std::uint32_t kRtlIssuePerCycle = 16;
inline constexpr Cycle kRtlLongestStep = 0xffff'ffff;

// False in a program without Verilog models; then make_rtl_sequencer throws.
[[nodiscard]] bool has_rtl();

// A sequencer that clocks the Verilog in every cycle, also while the NI rests: throws
// std::logic_error if it decides anything then. Throws std::invalid_argument beyond the limits
// above.
[[nodiscard]] std::unique_ptr<TableSequencer> make_rtl_sequencer(LockstepMode mode,
                                                                 std::uint32_t issue_per_cycle);

}  // namespace espalier
