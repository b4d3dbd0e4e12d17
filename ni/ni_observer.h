// Who looks at a network interface after each of its evaluations: for waveforms.
#pragma once

#include "hw/ids.h"

namespace espalier {

class NetworkInterface;

class NiObserver {
 public:
  virtual ~NiObserver() = default;
  virtual void evaluated(const NetworkInterface& ni, Cycle now) = 0;
};

}  // namespace espalier
