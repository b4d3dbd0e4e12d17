// The injection port of train fidelity.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flowctl/train/packet_stops.h"
#include "flowctl/train/train_sender.h"
#include "flowctl/virtual_channels.h"
#include "ni/injection_port.h"

namespace espalier {

// Packets that are ready together are promised as one train. Credits decide when it is checked.
class TrainInjectionPort : public InjectionPort {
 public:
  TrainInjectionPort(TrainChannel& channel, PacketStops& stops, const InjectionSpec& spec);

  Cycle evaluate(Cycle now) override;
  [[nodiscard]] Cycle credits_announced(Cycle now, Cycle planned) const override {
    return train_.held() && planned >= now ? std::max(now, next_check(now)) : planned;
  }
  [[nodiscard]] std::uint64_t packets_left(Cycle now) const override;
  [[nodiscard]] Cycle packets_left_at(std::uint64_t flits) const override;
  [[nodiscard]] std::uint64_t flits_sent(Cycle now) const override;
  [[nodiscard]] bool under_way(Cycle now) const override;
  [[nodiscard]] const char* link_name() const override { return channel_.link().name(); }

 private:
  // True if the train ended with this cycle's flit.
  bool take_note_of_end(Cycle now);
  // `flits` flits, up to a packet boundary, have left.
  void release(std::uint64_t flits);
  // Starts the next packet in cycle `earliest` or later. If it returns false, call it again in
  // `ask_again`.
  bool start_packet(Cycle now, Cycle earliest, Cycle& ask_again);
  [[nodiscard]] Cycle next_check(Cycle now) const;
  // All packets of the train take the same VC.
  [[nodiscard]] bool keeps_vc() const;
  // VCs that the first message may use.
  [[nodiscard]] VcMask permitted() const;
  // The VC of `candidates` that is asked first.
  [[nodiscard]] std::uint32_t first_of(VcMask candidates) const;

  TrainChannel& channel_;
  PacketStops& stops_;
  Tick ticks_per_cycle_;
  TrainSender train_;
  std::uint64_t offset_ = 0;  // of the next packet in the first message of the queue
  std::uint32_t vc_ = kNoVc;
  std::uint32_t first_vc_ = 0;  // VcOrder::rotating: where the next message begins to look for a VC
};

}  // namespace espalier
