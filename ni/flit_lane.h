// A packetizer: turns the messages of one queue into flits on some VCs of an injection channel.
#pragma once

#include <cstdint>

#include "flowctl/channel.h"
#include "flowctl/vc_choice.h"
#include "ni/send_queue.h"

namespace espalier {

class FlitLane {
 public:
  // The queue and the channel must outlive the lane.
  FlitLane(Channel& channel, SendQueue& queue, Switching switching, VcMask vcs);

  // Inside a packet: its first flit has been prepared, its last one has not left.
  [[nodiscard]] bool is_sending() const { return sending_; }
  // Precondition: not sending, the queue is not empty. Starts the next packet if its data has been
  // read and one of the VCs, but for those that are `taken`, has credits. False: `ask_again` is the
  // next cycle in which that may change, as far as it is known.
  bool start_packet(Cycle now, VcMask taken, Cycle& ask_again);
  // Precondition: sending.
  [[nodiscard]] const Flit& next_flit() const { return next_; }
  // The VC that a packet, or a message until its tail, keeps to itself.
  [[nodiscard]] VcMask owned() const { return vc_ == kNoVc ? 0 : VcMask{1} << vc_; }
  // Precondition: sending. Its next flit has a credit, and the wire takes it.
  [[nodiscard]] bool may_send(Cycle now) const {
    return !may_block_ ||
           (channel_.ready(now) && (switching_ == Switching::vct ||
                                    to_->buffer().has_room(1, (now + 1) * ticks_per_cycle_ - 1)));
  }
  // Precondition: sending, may_send(). Returns the message whose last flit this was; an invalid id
  // if it was not.
  MessageId send_flit(Cycle now) {
    to_->send(next_, now * ticks_per_cycle_);
    if (--next_.left_in_packet == 0) return end_packet();
    next_.type = next_.left_in_packet == 1 ? packet_end_ : packet_body_;
    return {};
  }
  void prefetch() const {
    if (sending_) to_->buffer().prefetch_tail();
  }

  [[nodiscard]] const char* blocked_on() const { return blocked_on_; }
  // Data or credits for the next packet are under way.
  [[nodiscard]] bool under_way(Cycle now) const;

 private:
  MessageId end_packet();

  // What a streaming packet needs every cycle stands together.
  bool sending_ = false;
  bool may_block_ = false;  // flits of a packet may have to wait: wormhole, or a link that refuses
  FlitType packet_end_ = FlitType::tail;
  FlitType packet_body_ = FlitType::body;
  Flit next_;  // next flit of the packet
  ChannelVc* to_ = nullptr;
  Tick ticks_per_cycle_;

  Channel& channel_;
  SendQueue& queue_;
  Switching switching_;
  VcMask vcs_;
  std::uint32_t vc_ = kNoVc;
  const char* blocked_on_ = "";
};

}  // namespace espalier
