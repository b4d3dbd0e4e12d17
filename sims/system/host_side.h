// Hosts that act while a system is simulated, as its main loop sees them.
#pragma once

#include "flowctl/wait_list.h"
#include "hw/ids.h"

namespace espalier {

class HostSide {
 public:
  virtual ~HostSide() = default;
  // They do something later by the passing of time alone.
  [[nodiscard]] virtual bool under_way(Cycle now) const = 0;
  // For the watchdog: which of them wait for whom.
  virtual void explain_waits(WaitList& waits) const = 0;
};

}  // namespace espalier
