#pragma once

#include "flowctl/channel.h"

namespace espalier {

inline constexpr std::uint32_t kNoVc = 0xffffffffU;

struct VcChoice {
  std::uint32_t vc = kNoVc;
  // Without a VC: the first tick at which it is worth asking again, as far as credits decide. A
  // credit that nobody has sent yet cannot be seen before one credit latency from now.
  Tick ask_again = kNever;
};

// VC allocation: the lowest of the `candidates` (permitted and without owner) with `flits` credits.
[[nodiscard]] inline VcChoice choose_vc(const Channel& channel, VcMask candidates,
                                        std::uint32_t flits, Cycle now, Tick now_end) {
  VcChoice choice;
  for (VcMask left = candidates; left != 0; left &= left - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (channel.has_room(vc, flits, now_end)) return {vc, 0};
    const Tick room_at = channel.room_at(vc, flits);
    const Tick unsent_credit =
        (now + channel.spec().credit_latency) * channel.spec().ticks_per_cycle;
    choice.ask_again = std::min(choice.ask_again, room_at == kNever ? unsent_credit : room_at);
  }
  return choice;
}

}  // namespace espalier
