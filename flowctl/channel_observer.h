// Observers of a channel, for waveforms and for accounts of where time went. In both fidelities, a
// channel reports a flit when it decides to send it, and also reports when such a decision is taken
// back.
#pragma once

#include <cstdint>

#include "flowctl/flit.h"
#include "flowctl/flit_run.h"
#include "hw/ids.h"

namespace espalier {

// Flits of one message that leave the sender back to back.
struct SentRun {
  std::uint32_t vc = 0;
  MessageId message;
  std::uint16_t hop = 0;     // number of routers passed when the flits reach the receiver
  std::uint64_t offset = 0;  // offset of the first flit in the message
  FlitRun flits;
};

class ChannelObserver {
 public:
  virtual ~ChannelObserver() = default;
  // Cycle fidelity: one flit.
  virtual void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) = 0;
  // Train fidelity: a run of flits. The first flit leaves in the current cycle or later.
  virtual void run_sent(const SentRun& run) = 0;
  // Takes back the last `n` flits that were reported as sent on the VC. All of them would leave in
  // the current cycle or later.
  virtual void run_cut(std::uint32_t vc, std::uint64_t n) = 0;
  // Flits leave the VC's buffer at the channel's end. leaving_cut takes back the last `n` of them.
  virtual void flits_left(std::uint32_t vc, const FlitRun& flits) = 0;
  virtual void leaving_cut(std::uint32_t vc, std::uint64_t n) = 0;
};

// An observer in cycle fidelity, where channels report no runs.
class FlitObserver : public ChannelObserver {
 public:
  void flit_sent(std::uint32_t /*vc*/, const Flit& /*flit*/, Tick /*departure*/) override {}
  void run_sent(const SentRun& /*run*/) override {}
  void run_cut(std::uint32_t /*vc*/, std::uint64_t /*n*/) override {}
  void flits_left(std::uint32_t /*vc*/, const FlitRun& /*flits*/) override {}
  void leaving_cut(std::uint32_t /*vc*/, std::uint64_t /*n*/) override {}
};

}  // namespace espalier
