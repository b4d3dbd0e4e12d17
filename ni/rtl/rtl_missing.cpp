// In builds without Verilog models.
#include <stdexcept>

#include "ni/rtl/rtl_dependencies.h"
#include "ni/rtl/rtl_dimension_queue.h"
#include "ni/rtl/rtl_sequencer.h"

namespace espalier {

bool has_rtl() { return false; }

std::unique_ptr<TableSequencer> make_rtl_sequencer(LockstepMode /*mode*/,
                                                   std::uint32_t /*issue_per_cycle*/) {
  throw std::invalid_argument(kNoRtlModels);
}

std::unique_ptr<DependencyState> make_rtl_dependencies(const TableProgram& /*program*/,
                                                       Cycle /*turnaround*/,
                                                       std::uint32_t /*issue_per_cycle*/) {
  throw std::invalid_argument(kNoRtlModels);
}

std::unique_ptr<DimensionArbiter> make_rtl_arbiter(const ArbiterSpec& /*spec*/,
                                                   Cycle /*arbitration*/, std::size_t /*stages*/) {
  throw std::invalid_argument(kNoRtlModels);
}

}  // namespace espalier
