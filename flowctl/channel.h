// A link with the VC buffers at its end and the credits that flow back: all that one sender and one
// receiver share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "flowctl/channel_monitor.h"
#include "flowctl/message.h"
#include "flowctl/vc_buffer.h"
#include "hw/link.h"

namespace espalier {

struct ChannelSpec {
  std::uint32_t vcs = 1;  // 1 to 32
  std::uint32_t vc_depth_flits = 1;
  Cycle credit_latency = 1;  // flit leaves the buffer -> sender sees the credit, >= 1
  Cycle receiver_pipeline =
      0;  // a flit that arrives in cycle a may leave from a + receiver_pipeline
  Tick ticks_per_cycle = 1;
};

// The receiving end of a channel.
class FlitReceiver {
 public:
  virtual ~FlitReceiver() = default;
  // A flit for a buffer that had none becomes usable at `cycle`, in the future.
  virtual void flit_coming(Cycle cycle) = 0;
};

class Channel {
 public:
  Channel(Link& link, const ChannelSpec& spec);

  // Before the simulation starts, exactly once.
  void connect_receiver(FlitReceiver& receiver);
  // Checks every rule a channel must keep, independently (tests, simulation.monitors).
  void attach_monitor();
  [[nodiscard]] ChannelMonitor* monitor() { return monitor_.get(); }

  // Sender's side -----------------------------------------------------------------------------
  [[nodiscard]] bool has_room(std::uint32_t vc, std::uint32_t flits, Tick now_end) const {
    return buffers_[vc].has_room(flits, now_end);
  }
  [[nodiscard]] Tick room_at(std::uint32_t vc, std::uint32_t flits) const {
    return buffers_[vc].room_at(flits);
  }
  // The wire is free of random refusals in this cycle.
  [[nodiscard]] bool ready(Cycle now) const { return !may_refuse_ || !link_.refuses(now); }
  // The flit departs at tick `departure` (within the present cycle).
  void send(std::uint32_t vc, const Flit& flit, Tick departure) {
    if (monitor_) monitor_->sent(vc, flit, departure / spec_.ticks_per_cycle);
    const Tick usable = departure + usable_after_;
    if (buffers_[vc].push(flit, usable)) {
      occupied_ |= VcMask{1} << vc;
      receiver_->flit_coming(usable / spec_.ticks_per_cycle);
    }
  }
  [[nodiscard]] Tick ticks_per_flit() const { return link_.timing().ticks_per_flit; }

  // Receiver's side ---------------------------------------------------------------------------
  // VCs with a flit under way or arrived.
  [[nodiscard]] VcMask occupied() const { return occupied_; }
  [[nodiscard]] const VcBuffer& buffer(std::uint32_t vc) const { return buffers_[vc]; }
  void pop(std::uint32_t vc, Cycle now) {
    if (monitor_) monitor_->left(vc, buffers_[vc].front(), now);
    buffers_[vc].pop(now * spec_.ticks_per_cycle + credit_after_);
    if (buffers_[vc].empty()) occupied_ &= ~(VcMask{1} << vc);
  }

  [[nodiscard]] const ChannelSpec& spec() const { return spec_; }
  [[nodiscard]] const Link& link() const { return link_; }
  [[nodiscard]] std::uint64_t flits_carried() const;

 private:
  std::vector<VcBuffer> buffers_;
  Tick usable_after_;  // departure -> usable at the receiver: link and pipeline
  Tick credit_after_;
  VcMask occupied_ = 0;
  bool may_refuse_;
  FlitReceiver* receiver_ = nullptr;
  std::unique_ptr<ChannelMonitor> monitor_;
  ChannelSpec spec_;
  Link& link_;
};

// The depth with which an uncontended stream of packets of up to `longest_packet` flits never waits
// for credits: the whole credit loop, docs/timing.md.
[[nodiscard]] std::uint64_t depth_without_stall(Cycle link_latency, Cycle pipeline,
                                                Cycle credit_latency, std::uint32_t longest_packet);

}  // namespace espalier
