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
  VcMask control_vcs = 0;            // for control messages; 0: the port has no control messages
  VcOrder vc_order = VcOrder::lowest;
};

class SendQueue {
 public:
  explicit SendQueue(const InjectionSpec& spec) : spec_(spec) {}

  [[nodiscard]] const InjectionSpec& spec() const { return spec_; }
  [[nodiscard]] bool full() const { return held() >= spec_.queue_depth; }
  // Messages that have not released the port.
  [[nodiscard]] std::size_t held() const { return sends_.size() - released_; }
  [[nodiscard]] bool empty() const { return sends_.empty(); }
  // Inserts the message behind all messages of the same or a lower rank, and behind the message
  // that is being sent or is next. `vcs`: VCs of the injection channel that the message may use.
  void push(MessageId message, const Framing& framing, VcMask vcs, std::uint64_t rank = 0);

  // NiSpec::releases_early. Messages are pushed into the buffer one after the other, at most a
  // packet in a cycle. The last packet of a message is pushed when all that has not left fits the
  // buffer. A message was added in cycle `now`.
  void begin_push(Cycle now) {
    if (held() == 1) push_begins_ = now;
  }
  // Precondition of both: held() != 0. The first cycle in which the message could be pushed if the
  // buffer had room; kNever: the DMA engine has not read it.
  [[nodiscard]] Cycle pushed_at_best() const;
  // Flits of the first message that must leave before the message fits the buffer.
  [[nodiscard]] std::uint64_t flits_in_the_way() const;
  // The message has been pushed in cycle `now`. Returns it.
  MessageId release(Cycle now) {
    push_begins_ = now;
    return sends_[released_++].message;
  }

  // For the DMA engine: all packets that are not yet read become ready at `ready`.
  void fetch_all(Cycle ready);
  // For a DMA engine that reads packets one by one: bytes of the next packet to read; 0 if there is
  // none, or no buffer space for it.
  [[nodiscard]] Bytes next_fetch() const;
  void fetched(Cycle ready);

  // The message to send now. Precondition of all functions below: the queue is not empty.
  [[nodiscard]] MessageId message() const { return sends_.front().message; }
  [[nodiscard]] const Framing& framing() const { return sends_.front().framing; }
  [[nodiscard]] VcMask vcs() const { return sends_.front().vcs; }
  // The next packet to send, and when it can be sent; kNever if the DMA engine has not read it yet.
  [[nodiscard]] std::uint64_t packet() const { return packet_; }
  [[nodiscard]] Cycle packet_ready() const;
  // True if packets become ready one by one, false if all packets of a message become ready at
  // once.
  [[nodiscard]] bool one_by_one() const { return !ready_.empty(); }
  // The packet has left. Returns true if it was the message's last packet; the message is then
  // removed.
  bool packet_sent();
  // All packets of the message have left. Precondition: they became ready at once.
  void message_sent() { remove_first(); }

 private:
  struct Send {
    MessageId message;
    Framing framing;
    VcMask vcs = 0;
    std::uint64_t fetched_packets = 0;
    std::uint64_t rank = 0;
    Cycle ready = 0;  // of the packets, if the DMA engine does not read them one by one
  };

  // A message whose last flit has left has released the port in any case.
  void remove_first() {
    sends_.pop_front();
    if (released_ != 0) --released_;
  }

  InjectionSpec spec_;
  std::uint64_t packet_ = 0;  // of the first message in the queue
  std::size_t released_ = 0;  // messages at the front that have released the port
  Cycle push_begins_ = 0;     // of the first message that has not released it
  std::deque<Send> sends_;
  std::deque<Cycle> ready_;  // of packets that were read one by one and are not yet sent
  std::uint64_t buffered_flits_ = 0;
};

}  // namespace espalier
