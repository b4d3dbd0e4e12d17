// Messages that come to an NI while the simulation runs, beside its issue engine: those of a host's
// control plane, or of other tenants. They share send queues and VCs with gradients.
#pragma once

#include "hw/ids.h"
#include "ni/operation.h"

namespace espalier {

// Asked only by its node's NI.
class MessageSource {
 public:
  MessageSource() = default;
  virtual ~MessageSource() = default;
  MessageSource(const MessageSource&) = delete;
  MessageSource& operator=(const MessageSource&) = delete;

  // When the next message is posted; kNever where none is known. Where it becomes earlier, the NI
  // is told (NetworkInterface::wake_source).
  [[nodiscard]] virtual Cycle next_ready() const = 0;
  // Preconditions of both: next_ready() has come. Ascending in time. is_control is set, and there
  // are no chunks.
  [[nodiscard]] virtual const Operation& front() = 0;
  virtual void pop() = 0;
};

}  // namespace espalier
