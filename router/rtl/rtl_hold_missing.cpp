// In builds without Verilog models.
#include <stdexcept>

#include "router/rtl/rtl_output_hold.h"

namespace espalier {

std::unique_ptr<OutputHold> make_rtl_output_hold(const HoldSpec& /*spec*/) {
  throw std::invalid_argument(kNoRtlModels);
}

}  // namespace espalier
