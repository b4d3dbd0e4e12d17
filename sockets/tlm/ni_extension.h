// What a generic payload says of its message beyond address and data.
#pragma once

#include <cstdint>
#include <tlm>

#include "hw/ids.h"

namespace espalier {

// An initiator may add it to a payload. It travels with the payload to the target at the receiver.
// If an initiator adds none, the payload has one while the message is in flight.
struct NiExtension : tlm::tlm_extension<NiExtension> {
  // The initiator's own numbers; the network does not use them.
  std::uint32_t collective = 0;
  std::uint32_t flow = 0;
  std::uint32_t timestep = 0;
  NodeId source;  // the sending NI's node; the NI writes it

  [[nodiscard]] tlm::tlm_extension_base* clone() const override { return new NiExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const NiExtension&>(other);
  }
};

}  // namespace espalier
