// An injection port of cycle fidelity.
#pragma once

#include <cstdint>

#include "flowctl/channel.h"
#include "flowctl/vc_choice.h"
#include "ni/injection_port.h"

namespace espalier {

// Sends at most one flit per cycle.
class FlitInjectionPort : public InjectionPort {
 public:
  FlitInjectionPort(Channel& channel, const InjectionSpec& spec);

  void prefetch() const override {
    if (sending_) to_->buffer().prefetch_tail();
  }
  Cycle evaluate(Cycle now) override;
  [[nodiscard]] bool under_way(Cycle now) const override;
  [[nodiscard]] const char* link_name() const override { return channel_.link().name(); }

 private:
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

  Channel& channel_;
  Switching switching_;
  std::uint32_t vc_ = kNoVc;
};

}  // namespace espalier
