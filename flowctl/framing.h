// Cuts a message into packets or sub-packets, and packets into flits (MultiTree, section IV-B and
// Fig. 7).
#pragma once

#include <algorithm>
#include <cstdint>

#include "flowctl/flit.h"
#include "hw/ids.h"

namespace espalier {

// The longest packet, because a flit has a 16-bit count of the flits left in its packet.
inline constexpr std::uint32_t kMostPacketFlits = 65535;

// The boundaries of the packets (or sub-packets) of a message, as offsets of flits in the message.
struct PacketGrid {
  std::uint64_t flits = 0;         // of the message, head flits included
  std::uint32_t first_packet = 0;  // flits of the first packet, if the message fills it
  std::uint32_t packet = 1;        // flits of every other packet except the last
  bool message_mode = true;        // a VC is owned until the message's tail, not the packet's tail

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
  // The boundary at which packet `number` begins, or the message's end.
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t number) const {
    return number == 0 ? 0 : std::min(flits, first_packet + (number - 1) * packet);
  }
  // The boundary after the last packet that is as long as `packet`.
  [[nodiscard]] std::uint64_t end_of_full_packets() const {
    return flits < first_packet ? 0 : flits - (flits - first_packet) % packet;
  }
  // The last boundary that is not after `offset`.
  [[nodiscard]] std::uint64_t boundary_before(std::uint64_t offset) const {
    if (offset == flits) return flits;
    return offset < first_packet ? 0 : offset - (offset - first_packet) % packet;
  }
  // Length of the packet that begins at boundary `offset` (no division).
  [[nodiscard]] std::uint64_t length_at(std::uint64_t offset) const {
    return std::min<std::uint64_t>(offset == 0 ? first_packet : packet, flits - offset);
  }
};

struct FramingSpec {
  bool message_mode = true;
  std::uint32_t flit_bytes = 16;
  Bytes payload_bytes = 256;     // of a full packet or sub-packet; a multiple of flit_bytes
  bool pad_last_packet = false;  // packet mode: the last packet has as many flits as a full one
};

// Packet mode: every packet has one head flit and its payload; the last packet is as long as its
// payload requires. Message mode: the message is cut into sub-messages, and these into sub-packets;
// only the first sub-packet of the head sub-message has a head flit. Below, "packet" means a packet
// or a sub-packet: the unit of arbitration and of VCT admission.
class Framing {
 public:
  Framing(const FramingSpec& spec, Bytes message_bytes);  // message_bytes >= 1

  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] std::uint32_t flits_in_packet(std::uint64_t packet) const {
    const bool has_head = !spec_.message_mode || packet == 0;
    const bool last = packet + 1 == packets_;
    return (last ? last_payload_flits_ : full_payload_flits_) + (has_head ? 1 : 0);
  }
  // Type of flit `flit` (0-based) of packet `packet`.
  [[nodiscard]] FlitType type_of(std::uint64_t packet, std::uint32_t flit) const;
  [[nodiscard]] std::uint64_t flits() const;
  // The packet boundaries as offsets of flits.
  [[nodiscard]] PacketGrid grid() const;
  [[nodiscard]] std::uint64_t head_flits() const { return spec_.message_mode ? 1 : packets_; }
  [[nodiscard]] Bytes payload_of_packet(std::uint64_t packet) const;
  [[nodiscard]] bool message_mode() const { return spec_.message_mode; }
  [[nodiscard]] Bytes message_bytes() const { return message_bytes_; }

 private:
  FramingSpec spec_;
  Bytes message_bytes_;
  std::uint64_t packets_;
  std::uint32_t full_payload_flits_;
  std::uint32_t last_payload_flits_;
};

}  // namespace espalier
