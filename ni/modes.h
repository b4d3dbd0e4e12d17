#pragma once

#include <cstdint>

namespace espalier {

// How an NI paces the timesteps of its schedule table (docs/lockstep.md).
enum class LockstepMode : std::uint8_t {
  off,  // dependencies only
  // A step takes its estimated serialization time at this NI, whether or not the NI sends (the
  // paper).
  estimate,
  drain,  // a step starts when this NI's sends of the previous step have left
  // True lockstep: a step lasts until, by estimate, its messages are visible and reduced
  // everywhere.
  full,
};

enum class ReductionMode : std::uint8_t {
  streaming,      // as flits arrive, with one lane per ejection port
  after_message,  // one unit per NI reduces whole messages, first come first served
};

}  // namespace espalier
