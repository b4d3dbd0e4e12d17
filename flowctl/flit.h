#pragma once

#include <cstdint>

#include "flowctl/flit_type.h"
#include "hw/ids.h"

namespace espalier {

// A flit on its way: sideband information of the model, not the bits of flit_format.h.
struct Flit {
  MessageId message;
  std::uint16_t left_in_packet =
      1;  // flits of its packet from this one on; the first flit tells the packet's length
  std::uint16_t hop = 0;  // routers passed
  FlitType type = FlitType::body;
};

// Where packets leave the network: the receiving side of a network interface, which takes flits at
// line rate and so never holds an ejection port up.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  // `count` packets of `flits` flits each leave ejection port `port` without a gap; the last flit
  // of the last one reaches the NI at cycle `arrival`, later than now. Per port (not among ports)
  // in the order of these cycles.
  virtual void packets_end(std::uint32_t port, MessageId message, std::uint64_t count,
                           std::uint32_t flits, Cycle arrival) = 0;
};

}  // namespace espalier
