// Bit-exact control fields of a flit (MultiTree, Fig. 8 and Table II), parametric in the system's
// size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flowctl/flit.h"

namespace espalier {

// Fields that a flit can carry besides its payload or header information. FlitFormat defines which
// types have which fields. encode() ignores the other fields; decode() sets them to zero.
struct FlitFields {
  std::uint32_t vc = 0;
  FlitType type = FlitType::body;
  std::uint32_t dest = 0;  // normal packet: Route Info
  std::uint32_t src = 0;
  std::uint32_t next = 0;     // sub-packet: Route Info, port toward the next router
  std::uint32_t eject = 0;    // sub-packet: Route Info, ejection port at the last router
  std::uint32_t tree_id = 0;  // sub-packet: Tree Info
  // Sub-packet: Route Info, ports at the second and later routers of a route.
  std::vector<std::uint32_t> later{};

  friend bool operator==(const FlitFields& a, const FlitFields& b) {
    return a.vc == b.vc && a.type == b.type && a.dest == b.dest && a.src == b.src &&
           a.next == b.next && a.eject == b.eject && a.tree_id == b.tree_id && a.later == b.later;
  }
};

// Widths in bits. Layout, most significant field first:
//   head, head & tail:  VC | Type | Packet Info | header information
//   body, tail:         VC | Type | unused (kUnusedBits) | payload
//   Packet Info, normal packet:  unused | Dest | Src
//                sub-packet:     unused | Next, one per link of the longest route | Eject | Tree ID
// Packet Info is as wide as the larger of its two layouts. Control fields are sideband: they take
// no bits from the payload, which is flit_bytes wide.
class FlitFormat {
 public:
  static constexpr unsigned kTypeBits = 3;
  static constexpr unsigned kUnusedBits = 3;

  // nodes >= 2. ports: ports of the largest router, including its ejection ports. vcs >= 1. hops >=
  // 1: links of the longest route of a message; in the paper it is 1, because messages go to
  // neighbours. Throws std::invalid_argument if the control fields exceed 64 bits.
  FlitFormat(std::uint32_t nodes, std::uint32_t ports, std::uint32_t vcs, std::uint32_t hops = 1);

  [[nodiscard]] unsigned vc_bits() const { return vc_bits_; }
  [[nodiscard]] unsigned node_bits() const { return node_bits_; }
  [[nodiscard]] unsigned port_bits() const { return port_bits_; }
  [[nodiscard]] unsigned packet_info_bits() const;
  [[nodiscard]] unsigned head_control_bits() const {
    return vc_bits_ + kTypeBits + packet_info_bits();
  }
  [[nodiscard]] unsigned body_control_bits() const { return vc_bits_ + kTypeBits + kUnusedBits; }

  // Control fields as the low bits of a word. Throws std::out_of_range if a value exceeds its
  // field.
  [[nodiscard]] std::uint64_t encode(const FlitFields& fields) const;
  [[nodiscard]] FlitFields decode(std::uint64_t control_bits, bool carries_packet_info) const;

  // Text with the widths, as in Fig. 8, and the codes of Table II.
  [[nodiscard]] std::string describe() const;

 private:
  [[nodiscard]] unsigned sub_packet_info_bits() const {
    return (hops_ + 1) * port_bits_ + node_bits_;
  }

  unsigned vc_bits_;
  unsigned node_bits_;
  unsigned port_bits_;
  unsigned hops_;
};

// Route Info after route computation in a router: rotated by one field, so that the port that was
// just taken comes last. On a route of one link, Next and Eject change places: the neighbour ejects
// at port Eject, and Next still tells which child sent the message (section IV-B). On a longer
// route, each router finds its own port in front, and the fields after Eject identify the sender at
// the end.
[[nodiscard]] FlitFields turn_route_info(FlitFields fields);

}  // namespace espalier
