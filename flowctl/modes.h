#pragma once

#include <cstdint>

namespace espalier {

enum class FlowControlMode : std::uint8_t { message, packet };

// What a packet needs downstream before it may start: virtual cut-through, room for all of it;
// wormhole, for one flit.
enum class Switching : std::uint8_t { vct, wormhole };

[[nodiscard]] constexpr std::uint32_t credits_to_start(Switching switching,
                                                       std::uint32_t packet_flits) {
  return switching == Switching::vct ? packet_flits : 1;
}

}  // namespace espalier
