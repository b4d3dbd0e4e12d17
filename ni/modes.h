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
  // MultiTree's authors: a step that sends starts when all sends of the last one have released
  // their ports. The counter runs for NOPs only: a step's estimate, and one more if the NOP follows
  // a step that sends.
  nop,
};

// Which injection port of its NI a message takes, and which ejection port of the receiver.
enum class PortBinding : std::uint8_t {
  link,  // the ports of the first and the last link of its route
  any,   // any free port; at the receiver the next port in turn of its timestep
};

// When a message releases its port to the next message.
enum class PortRelease : std::uint8_t {
  left,    // its last flit has left
  pushed,  // its last packet has been pushed into the buffer in front of the port
};

// Which entries of a schedule table may issue.
enum class IssueOrder : std::uint8_t {
  head,  // the head of the table
  step,  // every entry of the present timestep
};

// When a node begins the Gathers that follow Reduces in its schedule table.
enum class GatherStart : std::uint8_t {
  flow,  // each one when its own flow permits
  node,  // when all sends have released their ports, and the flows that the node roots are reduced
};

enum class ReductionMode : std::uint8_t {
  streaming,      // as flits arrive, with one lane per ejection port
  after_message,  // one unit per NI reduces whole messages, first come first served
};

}  // namespace espalier
