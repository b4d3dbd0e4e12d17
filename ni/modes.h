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
  // NiRules::authors and authors_linked: a step that sends starts when all sends of the last one
  // have released their ports. The counter runs for NOPs only: a step's estimate, and one more if
  // the NOP follows a step that sends.
  nop,
};

// Whose rules an NI with a schedule table follows (docs/lockstep.md).
enum class NiRules : std::uint8_t {
  // Ours: a message takes the ports of the first and the last link of its route, and holds its
  // place at the port until its last flit has left. The head of the table issues.
  linked,
  // The simulator of MultiTree's authors: a message takes any free port, and at the receiver the
  // next port in turn of its timestep. It holds its port until its last packet has been pushed into
  // the buffer in front of the port. Every entry of the present timestep may issue.
  authors,
  authors_linked,  // the same, with the ports of `linked`
};

[[nodiscard]] constexpr bool takes_any_port(NiRules rules) { return rules == NiRules::authors; }

enum class ReductionMode : std::uint8_t {
  streaming,      // as flits arrive, with one lane per ejection port
  after_message,  // one unit per NI reduces whole messages, first come first served
};

}  // namespace espalier
