// In builds without verilator.
#include <stdexcept>

#include "ni/rtl/rtl_dependencies.h"
#include "ni/rtl/rtl_dimension_queue.h"
#include "ni/rtl/rtl_sequencer.h"

namespace espalier {

bool has_rtl() { return false; }

namespace {
constexpr const char* kMissing =
    "this program has no Verilog models: it was built without verilator (Debian: verilator)";
}  // namespace

std::unique_ptr<TableSequencer> make_rtl_sequencer(LockstepMode /*mode*/,
                                                   std::uint32_t /*issue_per_cycle*/) {
  throw std::invalid_argument(kMissing);
}

std::unique_ptr<DependencyState> make_rtl_dependencies(const TableProgram& /*program*/,
                                                       Cycle /*turnaround*/,
                                                       std::uint32_t /*issue_per_cycle*/) {
  throw std::invalid_argument(kMissing);
}

std::unique_ptr<DimensionArbiter> make_rtl_arbiter(const ArbiterSpec& /*spec*/,
                                                   Cycle /*arbitration*/, std::size_t /*stages*/) {
  throw std::invalid_argument(kMissing);
}

}  // namespace espalier
