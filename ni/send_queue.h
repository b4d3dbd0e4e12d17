// The messages that wait at one injection port, and the packets that the DMA engine has read of
// them.
#pragma once

#include <cstdint>
#include <deque>

#include "flowctl/framing.h"
#include "flowctl/message.h"
#include "flowctl/virtual_channels.h"
#include "hw/ids.h"

namespace espalier {

struct InjectionSpec {
  FramingSpec framing;
  Switching switching = Switching::vct;
  std::uint32_t buffer_flits = 318;  // data that the DMA engine may read ahead
  std::uint32_t queue_depth = 16;    // descriptors
  VcMask vcs = ~VcMask{0};           // of the injection channel, for gradients
  VcMask control_vcs = 0;            // for control messages; none: there are no control messages
};

class SendQueue {
 public:
  explicit SendQueue(const InjectionSpec& spec) : spec_(spec) {}

  [[nodiscard]] const InjectionSpec& spec() const { return spec_; }
  [[nodiscard]] bool full() const { return sends_.size() >= spec_.queue_depth; }
  [[nodiscard]] bool empty() const { return sends_.empty(); }
  // Behind all of the same or a lower rank, and behind the message that is being sent or is next.
  void push(MessageId message, const Framing& framing, std::uint64_t rank = 0);

  // For the DMA engine: all packets not yet read become ready at `ready`,
  void fetch_all(Cycle ready);
  // or one by one: bytes of the next packet to read, 0 if there is none or no buffer space for it.
  [[nodiscard]] Bytes next_fetch() const;
  void fetched(Cycle ready);

  // The message to send now. Precondition of these: not empty.
  [[nodiscard]] MessageId message() const { return sends_.front().message; }
  [[nodiscard]] const Framing& framing() const { return sends_.front().framing; }
  // Its packet to send now, and when that can be sent: kNever if it has not been asked for yet.
  [[nodiscard]] std::uint64_t packet() const { return packet_; }
  [[nodiscard]] Cycle packet_ready() const;
  // Whether packets become ready one by one, or all of a message's at once.
  [[nodiscard]] bool one_by_one() const { return !ready_.empty(); }
  // The packet has left: true if it was the message's last, which is no longer here then.
  bool packet_sent();
  // All of the message's packets have left. Precondition: they became ready at once.
  void message_sent() { sends_.pop_front(); }

 private:
  struct Send {
    MessageId message;
    Framing framing;
    std::uint64_t fetched_packets = 0;
    std::uint64_t rank = 0;
    Cycle ready = 0;  // of the packets, where they are not limited by the DMA engine one by one
  };

  InjectionSpec spec_;
  std::uint64_t packet_ = 0;  // of the first message in the queue
  std::deque<Send> sends_;
  std::deque<Cycle> ready_;  // of packets read one by one and not yet sent
  std::uint64_t buffered_flits_ = 0;
};

}  // namespace espalier
