// Widths of the control fields of a flit (MultiTree, Fig. 8 and Table II), parametric in the
// system's size.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

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

}  // namespace espalier
