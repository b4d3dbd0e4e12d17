// Who is told what passes a channel: for waveforms and accounts of where time went. Flits are told
// of when they are decided, in either fidelity; a decision taken back is told of too.
#pragma once

#include <cstdint>

#include "flowctl/flit.h"
#include "flowctl/flit_run.h"
#include "hw/ids.h"

namespace espalier {

// Flits of one message that leave the sender one after the other.
struct SentRun {
  std::uint32_t vc = 0;
  MessageId message;
  std::uint16_t hop = 0;     // routers passed at the receiver
  std::uint64_t offset = 0;  // of the first, in the message
  FlitRun flits;
};

class ChannelObserver {
 public:
  virtual ~ChannelObserver() = default;
  // Cycle fidelity: one flit, whose type the message's grid does not have to be asked for.
  virtual void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) = 0;
  // Train fidelity. None of them leaves before the present cycle.
  virtual void run_sent(const SentRun& run) = 0;
  // The last `n` flits that were said to be sent on the VC are not: the first of them would have
  // left in the present cycle or later.
  virtual void run_cut(std::uint32_t vc, std::uint64_t n) = 0;
  // Flits leave the VC's buffer at the channel's end; and the last `n` of those do not.
  virtual void flits_left(std::uint32_t vc, const FlitRun& flits) = 0;
  virtual void leaving_cut(std::uint32_t vc, std::uint64_t n) = 0;
};

}  // namespace espalier
