// hw/rtl/dependency_state.v in place of what a schedule table knows of its messages.
#pragma once

#include <cstdint>
#include <memory>

#include "ni/engines/dependency_state.h"
#include "ni/rtl/rtl_sequencer.h"

namespace espalier {

// Sizes of the Verilog that is compiled into the program. As many entries in a cycle as
// ni_control.v.
inline constexpr std::uint32_t kRtlPlaces = 8192;
inline constexpr std::uint32_t kRtlEventsPerCycle = 2 * kRtlIssuePerCycle;
inline constexpr Cycle kRtlTurnaround = 4;

// A state that sets the Verilog's places in the cycles of their events, also while the NI rests.
// Throws std::invalid_argument beyond the limits above, and in programs without Verilog models.
[[nodiscard]] std::unique_ptr<DependencyState> make_rtl_dependencies(const TableProgram& program,
                                                                     Cycle turnaround,
                                                                     std::uint32_t issue_per_cycle);

}  // namespace espalier
