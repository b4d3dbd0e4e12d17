// Everything that one sender and one receiver share: a link, the VC buffers at its end, and the
// credits that flow back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "flowctl/channel_monitor.h"
#include "flowctl/channel_observer.h"
#include "flowctl/message.h"
#include "flowctl/vc_buffer.h"
#include "flowctl/virtual_channels.h"
#include "hw/clock/link.h"

namespace espalier {

// The receiving end of a channel.
class FlitReceiver {
 public:
  virtual ~FlitReceiver() = default;
  // An empty buffer gets a flit, which becomes usable in cycle `cycle`, later than now.
  virtual void flit_coming(Cycle cycle) = 0;
};

class Channel;

// One VC of a channel. The state that a streaming packet uses in each cycle fits into one cache
// line.
class alignas(64) ChannelVc {
 public:
  ChannelVc(Channel& channel, std::uint32_t vc, std::uint32_t depth, Tick usable_after,
            Tick credit_after)
      : buffer_(depth),
        usable_after_(usable_after),
        credit_after_(credit_after),
        channel_(&channel),
        vc_(vc) {}

  void set_watched() { watched_ = true; }

  [[nodiscard]] const VcBuffer& buffer() const { return buffer_; }
  // Sends a flit that departs at tick `departure`, within the current cycle.
  inline void send(const Flit& flit, Tick departure);
  // Removes the first flit from the buffer in the cycle that begins at tick `now_begin`.
  inline void pop(Tick now_begin);

 private:
  VcBuffer buffer_;
  Tick usable_after_;  // from departure until usable at the receiver: link and pipeline
  Tick credit_after_;  // from leaving the buffer until the sender sees the credit
  Channel* channel_;
  std::uint32_t vc_;
  bool watched_ = false;  // by a monitor or an observer
};
static_assert(sizeof(ChannelVc) == 64);

class Channel {
 public:
  Channel(Link& link, const ChannelSpec& spec);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // To be called before the simulation starts, exactly once.
  void connect_receiver(FlitReceiver& receiver);
  // Makes a monitor check every rule of the channel independently (tests, simulation.monitors).
  void attach_monitor();
  [[nodiscard]] ChannelMonitor* monitor() { return monitor_.get(); }
  // To be called before the simulation. A channel may have several observers, which must outlive
  // the simulation.
  void observe(ChannelObserver& observer);
  [[nodiscard]] ChannelVc& vc(std::uint32_t vc) { return vcs_[vc]; }

  // Sender's side -----------------------------------------------------------------------------
  [[nodiscard]] bool has_room(std::uint32_t vc, std::uint32_t flits, Tick now_end) const {
    return vcs_[vc].buffer().has_room(flits, now_end);
  }
  [[nodiscard]] Tick room_at(std::uint32_t vc, std::uint32_t flits) const {
    return vcs_[vc].buffer().room_at(flits);
  }
  // The earliest tick at which the sender can see a credit that has not been sent yet.
  [[nodiscard]] Tick unsent_credit(Cycle now) const {
    return (now + spec_.credit_latency) * spec_.ticks_per_cycle;
  }
  // Whether the link accepts a flit in this cycle. Only links with random refusals may refuse one.
  [[nodiscard]] bool may_refuse() const { return link_.may_refuse(); }
  [[nodiscard]] bool ready(Cycle now) const { return !link_.refuses(now); }
  void send(std::uint32_t vc, const Flit& flit, Tick departure) { vcs_[vc].send(flit, departure); }
  [[nodiscard]] Tick ticks_per_flit() const { return link_.timing().ticks_per_flit; }

  // Receiver's side ---------------------------------------------------------------------------
  // VCs with a flit in flight or in the buffer.
  [[nodiscard]] VcMask occupied() const { return occupied_; }
  [[nodiscard]] const VcBuffer& buffer(std::uint32_t vc) const { return vcs_[vc].buffer(); }
  void pop(std::uint32_t vc, Cycle now) { vcs_[vc].pop(now * spec_.ticks_per_cycle); }

  [[nodiscard]] const ChannelSpec& spec() const { return spec_; }
  [[nodiscard]] const Link& link() const { return link_; }
  [[nodiscard]] std::uint64_t flits_carried() const;
  // Whether a credit for one of `vcs` is on its way back to the sender.
  [[nodiscard]] bool credit_under_way(Tick now_end, VcMask vcs = ~VcMask{0}) const;

 private:
  friend class ChannelVc;
  void first_flit(std::uint32_t vc, Tick usable) {
    occupied_ |= VcMask{1} << vc;
    receiver_->flit_coming(usable / spec_.ticks_per_cycle);
  }
  // Called before a flit enters or leaves the buffer of a watched VC.
  void watch_send(std::uint32_t vc, const Flit& flit, Tick departure);
  void watch_pop(std::uint32_t vc, Tick now_begin);
  void emptied(std::uint32_t vc) { occupied_ &= ~(VcMask{1} << vc); }

  std::vector<ChannelVc> vcs_;
  VcMask occupied_ = 0;
  FlitReceiver* receiver_ = nullptr;
  std::unique_ptr<ChannelMonitor> monitor_;
  std::vector<ChannelObserver*> observers_;
  ChannelSpec spec_;
  Link& link_;
};

inline void ChannelVc::send(const Flit& flit, Tick departure) {
  if (watched_) channel_->watch_send(vc_, flit, departure);
  const Tick usable = departure + usable_after_;
  if (buffer_.push(flit, usable)) channel_->first_flit(vc_, usable);
}

inline void ChannelVc::pop(Tick now_begin) {
  if (watched_) channel_->watch_pop(vc_, now_begin);
  buffer_.pop(now_begin + credit_after_);
  if (buffer_.empty()) channel_->emptied(vc_);
}

}  // namespace espalier
