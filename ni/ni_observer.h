// Observers of a network interface, for waveforms and for accounts of where time went.
#pragma once

#include <cstdint>

#include "hw/ids.h"

namespace espalier {

class NetworkInterface;

// Stations of messages come during an evaluation, in order. A message here is what goes over one
// link: an operation, or its share of one.
class NiObserver {
 public:
  virtual ~NiObserver() = default;
  // At the end of every evaluation.
  virtual void evaluated(const NetworkInterface& ni, Cycle now) = 0;

  // It waits at injection port `port`. The DMA engine has read it for cycle `read`; kNever where
  // packets are read one by one.
  virtual void message_issued(MessageId /*message*/, std::uint32_t /*port*/, Cycle /*read*/,
                              Cycle /*now*/) {}
  // Its last flit leaves.
  virtual void message_sent(MessageId /*message*/, Cycle /*now*/) {}
  // At the receiver: all of it can be seen; a Reduce is added from now on; it is in memory, and its
  // id may be used again.
  virtual void message_visible(MessageId /*message*/, Cycle /*now*/) {}
  virtual void reduction_begins(MessageId /*message*/, Cycle /*now*/) {}
  virtual void message_done(MessageId /*message*/, Cycle /*now*/) {}
};

}  // namespace espalier
