// The host side of control traffic: short messages that one node posts while its NI works on a
// collective.
#pragma once

#include <cstdint>

#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

struct ControlPost {
  Operation operation;  // is_control; ready: when the host posts it
  std::uint32_t path = 0;
  std::uint32_t injection_port = 0;
};

// Asked only by its node's NI.
class ControlSource {
 public:
  virtual ~ControlSource() = default;
  // When the next message is posted; kNever after the last one.
  [[nodiscard]] virtual Cycle next_ready() const = 0;
  // Precondition of both: next_ready() has come. Ascending in time.
  [[nodiscard]] virtual const ControlPost& front() = 0;
  virtual void pop() = 0;
};

}  // namespace espalier
