// Virtual channels: sets of them, their depths, and how a packet chooses one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/ids.h"
#include "hw/topology/link_timing.h"

namespace espalier {

// A set of VCs, one bit each.
using VcMask = std::uint32_t;
[[nodiscard]] constexpr VcMask all_vcs(std::uint32_t vcs) {
  return static_cast<VcMask>((std::uint64_t{1} << vcs) - 1);
}

enum class FlowControlMode : std::uint8_t { message, packet };

// The credits that a packet needs before it may start: for all of its flits (virtual cut-through),
// or for one flit (wormhole).
enum class Switching : std::uint8_t { vct, wormhole };

[[nodiscard]] constexpr std::uint32_t credits_to_start(Switching switching,
                                                       std::uint32_t packet_flits) {
  return switching == Switching::vct ? packet_flits : 1;
}

// Parameters of a channel: a link with VC buffers at its end.
struct ChannelSpec {
  std::uint32_t vcs = 1;  // 1 to 32
  std::uint32_t vc_depth_flits = 1;
  Cycle credit_latency = 1;     // flit leaves the buffer -> sender sees the credit, >= 1
  Cycle receiver_pipeline = 0;  // a flit that arrives in cycle a may leave in a + receiver_pipeline
  Tick ticks_per_cycle = 1;
  // VCs of the control lane. Their buffers may be shallower.
  VcMask control_vcs = 0;
  std::uint32_t control_vc_depth_flits = 0;

  [[nodiscard]] std::uint32_t depth_of(std::uint32_t vc) const {
    return (control_vcs >> vc & 1U) != 0 ? control_vc_depth_flits : vc_depth_flits;
  }
};

inline constexpr std::uint32_t kNoVc = 0xffffffffU;

// The order in which a packet looks for a VC.
enum class VcOrder : std::uint8_t {
  lowest,      // always from VC 0 on
  rotating,    // from the VC after the one that the channel's last packet chose
  destination  // one VC only, by the number of the destination: its routes permit no other
};

struct VcChoice {
  std::uint32_t vc = kNoVc;
  // If no VC was chosen: the first tick at which credits may permit a choice.
  Tick ask_again = kNever;
};

// VC allocation: chooses a VC of `candidates` (permitted VCs without owner) that has `flits`
// credits: the lowest from VC `first` on, or else the lowest. `channel` is a Channel or a
// TrainChannel.
template <class AnyChannel>
[[nodiscard]] VcChoice choose_vc(const AnyChannel& channel, VcMask candidates, std::uint32_t flits,
                                 Cycle now, Tick now_end, std::uint32_t first = 0) {
  VcChoice choice;
  const VcMask below = candidates & ((VcMask{1} << first) - 1);
  for (const VcMask part : {candidates & ~below, below}) {
    for (VcMask left = part; left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      if (channel.has_room(vc, flits, now_end)) return {vc, 0};
      const Tick room_at = channel.room_at(vc, flits);
      choice.ask_again =
          std::min(choice.ask_again, room_at == kNever ? channel.unsent_credit(now) : room_at);
    }
  }
  return choice;
}

}  // namespace espalier
