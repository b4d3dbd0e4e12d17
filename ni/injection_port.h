// Packetizer and injection channel of one NI port.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "flowctl/channel.h"
#include "flowctl/framing.h"
#include "flowctl/modes.h"
#include "flowctl/vc_choice.h"
#include "hw/ids.h"

namespace espalier {

struct InjectionSpec {
  FramingSpec framing;
  Switching switching = Switching::vct;
  std::uint32_t buffer_flits = 318;  // data that the DMA engine may read ahead
  std::uint32_t queue_depth = 16;    // descriptors
};

// Sends the messages of its queue in order, flit by flit. A packet starts when its data has been
// read and its VC has credits; then its flits follow without a gap.
class InjectionPort {
 public:
  InjectionPort(Channel& channel, const InjectionSpec& spec);

  [[nodiscard]] bool queue_full() const { return queue_.size() >= spec_.queue_depth; }
  [[nodiscard]] bool idle() const { return queue_.empty(); }
  void enqueue(MessageId message, Bytes bytes);

  // For the DMA engine: all packets not yet read become ready at `ready`,
  void fetch_all(Cycle ready);
  // or one by one: bytes of the next packet to read, 0 if there is none or no buffer space for it.
  [[nodiscard]] Bytes next_fetch() const;
  void fetched(Cycle ready);

  void prefetch() const {
    if (sending_) to_->buffer().prefetch_tail();
  }
  // Sends at most one flit, in cycle `now`. Returns the next cycle in which there may be something
  // to do; kNever if that depends on the DMA engine or on a new message.
  Cycle evaluate(Cycle now);

  // The message whose last flit has left since the last call; an invalid id if none.
  [[nodiscard]] MessageId take_sent() { return std::exchange(sent_, MessageId()); }

  [[nodiscard]] std::uint64_t head_flits_sent() const { return head_flits_; }
  [[nodiscard]] std::uint64_t flits_sent() const { return flits_; }
  [[nodiscard]] const Channel& channel() const { return channel_; }
  // Data or credits for the next packet are under way.
  [[nodiscard]] bool under_way(Cycle now) const;
  // Why the port does not send although it has something to send; empty otherwise.
  [[nodiscard]] const char* blocked_on() const { return blocked_on_; }

 private:
  struct Send {
    MessageId message;
    Framing framing;
    std::uint32_t fetched_packets = 0;
    Cycle ready = 0;  // of the packets, where they are not limited by the DMA engine one by one
  };
  [[nodiscard]] Cycle packet_ready() const;
  void end_packet();
  // True if the next packet has a VC now; else sets the cycle to ask again.
  bool start_packet(Cycle now, Cycle& ask_again);

  [[nodiscard]] bool may_send(Cycle now) const;

  // What a streaming packet needs every cycle stands together.
  bool sending_ = false;    // inside a packet
  bool may_block_ = false;  // flits of a packet may have to wait: wormhole, or a link that refuses
  FlitType packet_end_ = FlitType::tail;
  FlitType packet_body_ = FlitType::body;
  Flit next_;  // next flit of the packet
  ChannelVc* to_ = nullptr;
  Tick ticks_per_cycle_;
  MessageId sent_;

  Channel& channel_;
  InjectionSpec spec_;
  std::uint32_t vc_ = kNoVc;
  std::uint32_t packet_ = 0;  // of the first message in the queue
  std::deque<Send> queue_;
  std::deque<Cycle> ready_;  // of packets read one by one and not yet sent
  std::uint64_t buffered_flits_ = 0;
  std::uint64_t flits_ = 0;
  std::uint64_t head_flits_ = 0;
  const char* blocked_on_ = "";
};

}  // namespace espalier
