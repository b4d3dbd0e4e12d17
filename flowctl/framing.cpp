#include "flowctl/framing.h"

namespace espalier {

namespace {
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
}  // namespace

Framing::Framing(const FramingSpec& spec, Bytes message_bytes)
    : spec_(spec),
      message_bytes_(message_bytes),
      packets_(ceil_div(message_bytes, spec.payload_bytes)),
      full_payload_flits_(static_cast<std::uint32_t>(spec.payload_bytes / spec.flit_bytes)),
      last_payload_flits_(
          static_cast<std::uint32_t>(ceil_div(payload_of_packet(packets_ - 1), spec.flit_bytes))) {
  if (spec.pad_last_packet && !spec.message_mode) last_payload_flits_ = full_payload_flits_;
}

FlitType Framing::type_of(std::uint64_t packet, std::uint32_t flit) const {
  const bool last_flit = flit + 1 == flits_in_packet(packet);
  if (!spec_.message_mode) {
    if (flit == 0) return last_flit ? FlitType::head_tail : FlitType::head;
    return last_flit ? FlitType::tail : FlitType::body;
  }
  if (packet == 0 && flit == 0) return FlitType::sub_head;
  if (!last_flit) return FlitType::sub_body;
  return packet + 1 == packets_ ? FlitType::message_tail : FlitType::sub_tail;
}

std::uint64_t Framing::flits() const {
  return (packets_ - 1) * full_payload_flits_ + last_payload_flits_ + head_flits();
}

PacketGrid Framing::grid() const {
  return {flits(), full_payload_flits_ + 1, full_payload_flits_ + (spec_.message_mode ? 0 : 1),
          spec_.message_mode};
}

Bytes Framing::payload_of_packet(std::uint64_t packet) const {
  return packet + 1 == packets_ ? message_bytes_ - packet * spec_.payload_bytes
                                : spec_.payload_bytes;
}

}  // namespace espalier
