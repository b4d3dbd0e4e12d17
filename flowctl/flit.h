// Flits, their types, and the NI that receives them.
#pragma once

#include <cstdint>

#include "hw/ids.h"

namespace espalier {

// The 3-bit Type field: packet and flit type (MultiTree, Table II).
enum class FlitType : std::uint8_t {
  head = 0b000,
  body = 0b001,
  tail = 0b010,
  head_tail = 0b011,
  sub_head = 0b100,
  sub_body = 0b101,
  sub_tail = 0b110,  // ends a sub-packet: the output may be released, the VC stays with the message
  message_tail = 0b111,  // ends the tail sub-packet, and with it the message
};

// The last flit of a packet or sub-packet, after which the switch is released.
[[nodiscard]] constexpr bool ends_packet(FlitType type) {
  return type == FlitType::tail || type == FlitType::head_tail || type == FlitType::sub_tail ||
         type == FlitType::message_tail;
}

// The flit after which its VC has no owner.
[[nodiscard]] constexpr bool releases_vc(FlitType type) {
  return ends_packet(type) && type != FlitType::sub_tail;
}

// The flit that carries Packet Info, from which the route is computed.
[[nodiscard]] constexpr bool carries_header(FlitType type) {
  return type == FlitType::head || type == FlitType::head_tail || type == FlitType::sub_head;
}

[[nodiscard]] constexpr const char* to_string(FlitType type) {
  constexpr const char* kNames[] = {"head",     "body",     "tail",     "head_tail",
                                    "sub_head", "sub_body", "sub_tail", "message_tail"};
  return kNames[static_cast<unsigned>(type)];
}

// A flit in flight, as sideband information of the model.
struct Flit {
  MessageId message;
  // Flits of the packet from this one on. In the first flit, this is the length of the packet.
  std::uint16_t left_in_packet = 1;
  std::uint16_t hop = 0;  // routers passed
  FlitType type = FlitType::body;
};

// Learns of each flit that leaves an ejection port, in the cycle in which it leaves the router.
class EjectionObserver {
 public:
  virtual ~EjectionObserver() = default;
  // `vc`: the ejection port's VC that the flit's packet (in message mode: its message) owns.
  virtual void flit_ejected(std::uint32_t port, std::uint32_t vc, const Flit& flit) = 0;
};

// The receiving side of a network interface. It takes flits at line rate, so ejection ports never
// wait.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  // `count` packets of `flits` flits each leave ejection port `port`, each without a gap; arrivals
  // are rounded down to cycles. The last flit of the first packet reaches the NI in cycle `first`,
  // that of the last packet in cycle `arrival`, later than now. Between them packets come at equal
  // distances in ticks, or at distances that repeat; then the calls before and after are for the
  // single packets of one such period. Calls for one port ascend in `arrival`.
  virtual void packets_end(std::uint32_t port, MessageId message, std::uint64_t count,
                           std::uint32_t flits, Cycle first, Cycle arrival) = 0;
  // The observer that hears of each flit, asked for once when the port is connected; nullptr: none.
  // Cycle fidelity only.
  [[nodiscard]] virtual EjectionObserver* flit_observer() { return nullptr; }
};

}  // namespace espalier
