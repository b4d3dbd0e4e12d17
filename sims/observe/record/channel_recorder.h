// What a channel carries, written down: the same in either fidelity.
#pragma once

#include <cstdint>
#include <vector>

#include "flowctl/channel_observer.h"
#include "sims/observe/record/message_records.h"

namespace espalier {

class ChannelRecorder;

// Cycle fidelity: a flit in a switch. It is told of when it leaves for the next channel, then, by
// itself, when it leaves the buffer it was in: which of the message's flits it is shows there.
struct FlitInSwitch {
  ChannelRecorder* to = nullptr;  // nullptr: none
  std::uint32_t vc = 0;
  RecordIndex message = 0;
  std::uint16_t hop = 0;
  std::uint16_t out_port = 0;  // of the next router
  FlitRun departure;
};

class ChannelRecorder : public ChannelObserver {
 public:
  // Writes into `record`, with a VcRecord for each VC. `in_switch`: one for all channels of a
  // system. All must outlive it.
  ChannelRecorder(ChannelRecord& record, MessageRecords& messages, FlitInSwitch& in_switch);

  // What was decided for the tick `end` and later does not happen any more.
  void end_at(Tick end);

  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override;
  void run_sent(const SentRun& run) override;
  void run_cut(std::uint32_t vc, std::uint64_t n) override;
  void flits_left(std::uint32_t vc, const FlitRun& flits) override;
  void leaving_cut(std::uint32_t vc, std::uint64_t n) override;

 private:
  // Of a buffer: where its first flit stands in VcRecord::carried.
  struct Front {
    std::size_t run = 0;
    std::uint64_t flit = 0;
  };
  void carry(std::uint32_t vc, const CarriedRun& run);
  void leave(std::uint32_t vc, FlitRun flits);
  // The first flit of a buffer leaves; returns its offset in its message.
  std::uint64_t pop(std::uint32_t vc);

  ChannelRecord& record_;
  MessageRecords& messages_;
  FlitInSwitch& in_switch_;
  std::vector<Front> fronts_;  // by VC, in cycle fidelity
  bool by_flits_ = false;      // cycle fidelity
};

}  // namespace espalier
