// The injection port of cycle fidelity.
#pragma once

#include <cstdint>
#include <optional>

#include "flowctl/channel.h"
#include "flowctl/virtual_channels.h"
#include "ni/injection_port.h"
#include "ni/send_queue.h"

namespace espalier {

// A packetizer: turns the messages of one queue into flits on VCs of an injection channel.
class FlitLane {
 public:
  // The queue and the channel must outlive the lane.
  FlitLane(Channel& channel, SendQueue& queue, Switching switching, VcMask vcs);

  // True inside a packet: its first flit has been prepared, and its last flit has not left.
  [[nodiscard]] bool is_sending() const { return sending_; }
  // Precondition: not sending, and the queue is not empty. Starts the next packet if its data have
  // been read and one of the VCs not in `taken` has credits. Otherwise `ask_again` is the next
  // cycle in which that may change.
  bool start_packet(Cycle now, VcMask taken, Cycle& ask_again);
  // Precondition: sending.
  [[nodiscard]] const Flit& next_flit() const { return next_; }
  // The VC that only the current packet, or the current message until its tail, may use.
  [[nodiscard]] VcMask owned() const { return vc_ == kNoVc ? 0 : VcMask{1} << vc_; }
  // Precondition: sending. True if the next flit has a credit and the wire accepts it.
  [[nodiscard]] bool may_send(Cycle now) const {
    return !may_block_ ||
           (channel_.ready(now) && (switching_ == Switching::vct ||
                                    to_->buffer().has_room(1, (now + 1) * ticks_per_cycle_ - 1)));
  }
  // Precondition: sending, may_send(). Returns the message if this was its last flit, otherwise an
  // invalid id.
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
  // True if data or credits for the next packet are in flight.
  [[nodiscard]] bool under_way(Cycle now) const;

 private:
  MessageId end_packet();

  // State that a streaming packet uses in every cycle.
  bool sending_ = false;
  // Flits inside a packet may wait: wormhole switching, or a link that refuses flits.
  bool may_block_ = false;
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
  std::uint32_t first_vc_ = 0;  // VcOrder::rotating: where the next packet begins to look for a VC
  const char* blocked_on_ = "";
};

// Sends at most one flit per cycle. The flits of a (sub-)packet of the bulk lane follow each other
// without a gap. A control packet sends when it can, and otherwise lets the bulk lane pass. If both
// lanes could start a packet, they take turns.
class FlitInjectionPort : public InjectionPort {
 public:
  FlitInjectionPort(Channel& channel, const InjectionSpec& spec);

  [[nodiscard]] SendQueue& control_queue() override { return control_->queue; }
  void prefetch() const override { gradients_.prefetch(); }
  Cycle evaluate(Cycle now) override;
  [[nodiscard]] std::uint64_t packets_left(Cycle /*now*/) const override {
    return queue().framing().grid().begin_of(queue().packet());
  }
  [[nodiscard]] Cycle packets_left_at(std::uint64_t /*flits*/) const override { return kNever; }
  [[nodiscard]] std::uint64_t flits_sent(Cycle now) const override;
  [[nodiscard]] bool under_way(Cycle now) const override { return gradients_.under_way(now); }
  [[nodiscard]] const char* control_blocked_on() const override {
    return control_ ? control_->lane.blocked_on() : "";
  }
  [[nodiscard]] const char* link_name() const override { return channel_.link().name(); }

 private:
  struct Control {
    Control(Channel& channel, const InjectionSpec& spec)
        : queue(spec), lane(channel, queue, Switching::wormhole, spec.control_vcs) {}
    SendQueue queue;
    FlitLane lane;
    bool is_next = true;  // the control lane goes first if both lanes could start
  };

  Cycle evaluate_both(Cycle now);
  bool start_gradient(Cycle now, VcMask taken, Cycle& ask_again);
  // Each sends a flit, and starts a packet if necessary. Returns false if it cannot.
  bool send_gradient(Cycle now, Cycle& ask_again);
  bool send_control(Cycle now, Cycle& ask_again);
  void send(FlitLane& lane, Cycle now) {
    const MessageId sent = lane.send_flit(now);
    if (sent.valid()) set_sent(sent);
  }

  Channel& channel_;
  FlitLane gradients_;
  std::optional<Control> control_;
};

}  // namespace espalier
