#pragma once

#include <algorithm>
#include <cstdint>

#include "flowctl/message.h"
#include "hw/topology/link_timing.h"

namespace espalier {

inline constexpr std::uint32_t kNoVc = 0xffffffffU;

struct VcChoice {
  std::uint32_t vc = kNoVc;
  // Without a VC: the first tick at which it is worth asking again, as far as credits decide.
  Tick ask_again = kNever;
};

// VC allocation: the lowest of the `candidates` (permitted and without owner) with `flits` credits.
// `channel` is a Channel or a TrainChannel.
template <class AnyChannel>
[[nodiscard]] VcChoice choose_vc(const AnyChannel& channel, VcMask candidates, std::uint32_t flits,
                                 Cycle now, Tick now_end) {
  VcChoice choice;
  for (VcMask left = candidates; left != 0; left &= left - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
    if (channel.has_room(vc, flits, now_end)) return {vc, 0};
    const Tick room_at = channel.room_at(vc, flits);
    choice.ask_again =
        std::min(choice.ask_again, room_at == kNever ? channel.unsent_credit(now) : room_at);
  }
  return choice;
}

}  // namespace espalier
