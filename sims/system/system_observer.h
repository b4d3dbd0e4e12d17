// Who watches a whole system while it is simulated: waveforms, accounts of where time went.
#pragma once

#include "hw/ids.h"

namespace espalier {

class Fabric;

class SystemObserver {
 public:
  virtual ~SystemObserver() = default;
  // Everything is built and loaded, and nothing has happened. The fabric outlives what follows.
  virtual void begin(Fabric& fabric) = 0;
  // All cycles before `until` are over.
  virtual void advance(Cycle until) = 0;
  // The simulation is over; `end` is the cycle after its last one.
  virtual void finish(Cycle end) = 0;
};

}  // namespace espalier
