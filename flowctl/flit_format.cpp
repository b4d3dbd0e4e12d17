#include "flowctl/flit_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "flowctl/flit.h"
#include "hw/bits.h"

namespace espalier {

FlitFormat::FlitFormat(std::uint32_t nodes, std::uint32_t ports, std::uint32_t vcs,
                       std::uint32_t hops)
    : vc_bits_(bits_for(vcs)),
      node_bits_(bits_for(nodes)),
      port_bits_(bits_for(ports)),
      hops_(hops) {
  if (nodes < 2 || ports < 1 || vcs < 1 || hops < 1 || hops > 64) {
    throw std::invalid_argument(
        "a flit format needs at least 2 nodes, 1 port and 1 VC, and routes of 1 to 64 links");
  }
  if (head_control_bits() > 64) {
    throw std::invalid_argument(fmt::format(
        "the control fields of a head flit would take {} bits, of which {} are the ports "
        "on a route of {} links; 64 are supported",
        head_control_bits(), (hops_ + 1) * port_bits_, hops_));
  }
}

unsigned FlitFormat::packet_info_bits() const {
  return std::max(2 * node_bits_, sub_packet_info_bits());
}

std::string FlitFormat::describe() const {
  std::string text;
  text += fmt::format("head flit          VC {} | Type {} | Packet Info {} | header information\n",
                      vc_bits_, kTypeBits, packet_info_bits());
  text += fmt::format("body and tail flit VC {} | Type {} | unused {} | payload\n", vc_bits_,
                      kTypeBits, kUnusedBits);
  text += fmt::format("Packet Info, normal packet: unused {} | Dest {} | Src {}\n",
                      packet_info_bits() - 2 * node_bits_, node_bits_, node_bits_);
  const std::string next =
      hops_ == 1 ? fmt::format("{}", port_bits_) : fmt::format("{} x {}", hops_, port_bits_);
  text += fmt::format("Packet Info, sub-packet:    unused {} | Next {} | Eject {} | Tree ID {}\n",
                      packet_info_bits() - sub_packet_info_bits(), next, port_bits_, node_bits_);
  text += "Type codes:";
  for (unsigned code = 0; code < 8; ++code) {
    text += fmt::format(" {:03b} {}", code, to_string(static_cast<FlitType>(code)));
  }
  return text + "\n";
}

}  // namespace espalier
