// In builds without verilator.
#include <stdexcept>

#include "ni/rtl/rtl_sequencer.h"

namespace espalier {

bool has_rtl() { return false; }

std::unique_ptr<TableSequencer> make_rtl_sequencer(LockstepMode /*mode*/,
                                                   std::uint32_t /*issue_per_cycle*/) {
  throw std::invalid_argument(
      "this program has no Verilog models: it was built without verilator (Debian: verilator)");
}

}  // namespace espalier
