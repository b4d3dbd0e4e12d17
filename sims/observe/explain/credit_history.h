// The credits of a VC as its sender saw them, in any cycle of a run.
#pragma once

#include "sims/observe/explain/passages.h"

namespace espalier {

class CreditHistory {
 public:
  // `passages` must outlive it. `whole_packets`: virtual cut-through asks for credits for a packet,
  // wormhole for a flit.
  CreditHistory(const Passages& passages, bool whole_packets)
      : passages_(passages), whole_packets_(whole_packets) {}

  // Flits that had left the buffer that `next`'s flits go to, as seen by the sender.
  [[nodiscard]] std::uint64_t returned(const Passage& next, Cycle now) const {
    const Cycle loop = spec(next).credit_latency;
    if (now < loop) return 0;
    return passages_.left_before(next.channel, next.vc, passages_.tick_of(now + 1 - loop));
  }
  // There were enough for flit `flit` of `next`, and the rest of its packet, to go in cycle `now`.
  [[nodiscard]] bool suffice(const Passage& next, std::uint64_t flit, Cycle now) const {
    const PacketGrid& grid = passages_.record().messages[next.message].grid;
    const bool begins = whole_packets_ && grid.is_boundary(flit);
    const std::uint64_t sent = passages_.sent_before(next.channel, next.vc, passages_.tick_of(now));
    return spec(next).depth_of(next.vc) + returned(next, now) - sent >=
           (begins ? grid.length_at(flit) : 1);
  }

 private:
  [[nodiscard]] const ChannelSpec& spec(const Passage& next) const {
    return passages_.record().channels[next.channel].spec;
  }

  const Passages& passages_;
  bool whole_packets_;
};

}  // namespace espalier
