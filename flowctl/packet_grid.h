// Where the packets (or sub-packets) of a message begin and end, as offsets of flits in the
// message.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier {

// The width of a flit's count of what is left of its packet.
inline constexpr std::uint32_t kMostPacketFlits = 65535;

struct PacketGrid {
  std::uint64_t flits = 0;         // of the message, head flits included
  std::uint32_t first_packet = 0;  // flits of the first packet, if the message fills it
  std::uint32_t packet = 1;        // flits of every other packet but the last
  bool message_mode = true;        // a VC is owned to the message's tail, not to the packet's

  [[nodiscard]] bool is_boundary(std::uint64_t offset) const {
    if (offset == 0 || offset == flits) return true;
    return offset >= first_packet && (offset - first_packet) % packet == 0;
  }
  [[nodiscard]] std::uint64_t packets() const {
    return flits <= first_packet ? 1 : 1 + (flits - first_packet + packet - 1) / packet;
  }
  // The end of the packet that flit `offset` belongs to. Precondition: offset < flits.
  [[nodiscard]] std::uint64_t packet_end(std::uint64_t offset) const {
    if (offset < first_packet) return std::min<std::uint64_t>(first_packet, flits);
    return std::min(flits, offset + packet - (offset - first_packet) % packet);
  }
  // Length of the packet that begins at boundary `offset` (no division).
  [[nodiscard]] std::uint64_t length_at(std::uint64_t offset) const {
    return std::min<std::uint64_t>(offset == 0 ? first_packet : packet, flits - offset);
  }
};

}  // namespace espalier
