#include "flowctl/flit_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace espalier {

namespace {

unsigned bits_for(std::uint32_t values) {
  unsigned bits = 0;
  while ((std::uint64_t{1} << bits) < values) ++bits;
  return bits;
}

bool is_sub_packet(FlitType type) { return (static_cast<unsigned>(type) & 0b100U) != 0; }

class FieldWriter {
 public:
  void put(std::uint32_t value, unsigned bits, const char* name) {
    if (value >> bits != 0) {
      throw std::out_of_range(fmt::format("{} = {} does not fit its {} bits", name, value, bits));
    }
    word_ = word_ << bits | value;
  }
  void skip(unsigned bits) { word_ <<= bits; }
  [[nodiscard]] std::uint64_t word() const { return word_; }

 private:
  std::uint64_t word_ = 0;
};

class FieldReader {
 public:
  FieldReader(std::uint64_t word, unsigned bits) : word_(word), left_(bits) {}
  std::uint32_t take(unsigned bits) {
    left_ -= bits;
    return static_cast<std::uint32_t>(word_ >> left_ & ((std::uint64_t{1} << bits) - 1));
  }
  void skip(unsigned bits) { left_ -= bits; }

 private:
  std::uint64_t word_;
  unsigned left_;
};

}  // namespace

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

std::uint64_t FlitFormat::encode(const FlitFields& fields) const {
  FieldWriter writer;
  writer.put(fields.vc, vc_bits_, "VC");
  writer.put(static_cast<std::uint32_t>(fields.type), kTypeBits, "Type");
  if (!carries_header(fields.type)) {
    writer.skip(kUnusedBits);
  } else if (is_sub_packet(fields.type)) {
    if (fields.later.size() + 1 != hops_) {
      throw std::out_of_range(
          fmt::format("{} Next for routes of {} links", fields.later.size() + 1, hops_));
    }
    writer.skip(packet_info_bits() - sub_packet_info_bits());
    writer.put(fields.next, port_bits_, "Next");
    for (const std::uint32_t port : fields.later) writer.put(port, port_bits_, "Next");
    writer.put(fields.eject, port_bits_, "Eject");
    writer.put(fields.tree_id, node_bits_, "Tree ID");
  } else {
    writer.skip(packet_info_bits() - 2 * node_bits_);
    writer.put(fields.dest, node_bits_, "Dest");
    writer.put(fields.src, node_bits_, "Src");
  }
  return writer.word();
}

FlitFields FlitFormat::decode(std::uint64_t control_bits, bool carries_packet_info) const {
  FieldReader reader(control_bits, carries_packet_info ? head_control_bits() : body_control_bits());
  FlitFields fields;
  fields.vc = reader.take(vc_bits_);
  fields.type = static_cast<FlitType>(reader.take(kTypeBits));
  if (!carries_packet_info) return fields;
  if (is_sub_packet(fields.type)) {
    reader.skip(packet_info_bits() - sub_packet_info_bits());
    fields.next = reader.take(port_bits_);
    for (unsigned hop = 1; hop < hops_; ++hop) fields.later.push_back(reader.take(port_bits_));
    fields.eject = reader.take(port_bits_);
    fields.tree_id = reader.take(node_bits_);
  } else {
    reader.skip(packet_info_bits() - 2 * node_bits_);
    fields.dest = reader.take(node_bits_);
    fields.src = reader.take(node_bits_);
  }
  return fields;
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

FlitFields turn_route_info(FlitFields fields) {
  const std::uint32_t taken = fields.next;
  fields.later.push_back(fields.eject);
  fields.next = fields.later.front();
  fields.later.erase(fields.later.begin());
  fields.eject = taken;
  return fields;
}

}  // namespace espalier
