#pragma once

#include <cstdint>

namespace espalier {

// How an NI paces the timesteps of its schedule table (docs/lockstep.md).
enum class LockstepMode : std::uint8_t {
  off,       // dependencies only
  estimate,  // a step occupies its estimated serialization time at this NI, whether or not it sends
             // (the paper)
  drain,     // a step starts when this NI's sends of the step before have left
  full,  // true lockstep: a step lasts until its messages are visible and reduced everywhere, by
         // estimate
};

enum class ReductionMode : std::uint8_t {
  streaming,      // as flits arrive, one lane per ejection port
  after_message,  // one unit per NI, whole messages, first come first served
};

}  // namespace espalier
