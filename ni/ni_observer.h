// Observers of a network interface, for waveforms and for accounts of where time went.
#pragma once

#include <cstdint>

#include "hw/ids.h"

namespace espalier {

class NetworkInterface;

// The NI calls these functions during an evaluation, in order of time. A message here is what
// travels over one link: an operation, or its share on this link.
class NiObserver {
 public:
  virtual ~NiObserver() = default;
  // Called at the end of every evaluation.
  virtual void evaluated(const NetworkInterface& ni, Cycle now) = 0;

  // The message waits at injection port `port`. The DMA engine has read it in cycle `read`; kNever
  // if packets are read one by one.
  virtual void message_issued(MessageId /*message*/, std::uint32_t /*port*/, Cycle /*read*/,
                              Cycle /*now*/) {}
  // The message releases its port before it has left (NiSpec::releases_early).
  virtual void message_released(MessageId /*message*/, Cycle /*now*/) {}
  // The last flit of the message leaves.
  virtual void message_sent(MessageId /*message*/, Cycle /*now*/) {}
  // At the receiver: the whole message is visible (message_visible); the addition of a Reduce
  // begins (reduction_begins); the data are in memory, and the message id may be reused
  // (message_done).
  virtual void message_visible(MessageId /*message*/, Cycle /*now*/) {}
  virtual void reduction_begins(MessageId /*message*/, Cycle /*now*/) {}
  virtual void message_done(MessageId /*message*/, Cycle /*now*/) {}
};

}  // namespace espalier
