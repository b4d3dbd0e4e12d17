// In builds without verilator.
#include <stdexcept>

#include "router/rtl/rtl_output_hold.h"

namespace espalier {

std::unique_ptr<OutputHold> make_rtl_output_hold(const HoldSpec& /*spec*/) {
  throw std::invalid_argument(
      "this program has no Verilog models: it was built without verilator (Debian: verilator)");
}

}  // namespace espalier
