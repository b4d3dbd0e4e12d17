#pragma once

#include "hw/ids.h"

namespace espalier {

// Told of what the contexts of an NI have done.
class ProgramObserver {
 public:
  virtual ~ProgramObserver() = default;
  // Every context of `rank` has run its last step, and all its data are in memory.
  virtual void program_done(NodeId rank, Cycle now) = 0;
};

}  // namespace espalier
