// What a generator must know of the machine to plan times: framing and fixed delays.
#pragma once

#include <cstdint>

#include "hw/ids.h"

namespace espalier {

// How long a message occupies the links of its route through switches.
enum class RateRule : std::uint8_t {
  slowest,  // every link as long as the slowest one
  // Every link at its own rate: a VC buffer of the switch has room for the whole message, and
  // packets of other messages pass the switch in between.
  own,
};

struct MessageTiming {
  std::uint32_t flit_bytes = 16;
  Bytes payload_bytes = 256;           // of a packet or sub-packet; the last one may be shorter
  bool head_per_packet = false;        // otherwise one head flit per message
  std::uint64_t injection_ps = 4000;   // from an entry's issue to its first flit at the router
  std::uint64_t router_ps = 2000;      // before every link and behind the last one
  std::uint64_t delivery_ps = 4000;    // from the last router to usable data
  std::uint64_t reduction_ps = 1000;   // in addition, for data that are added
  std::uint64_t turnaround_ps = 2000;  // in addition, before a root passes on what it has reduced
  std::uint32_t send_queue = 16;       // messages that wait for one NI port
  bool slot_counter = true;            // NIs hold entries until their planned start
  Bytes stored_bytes = 0;              // the longest message of RateRule::own; 0: none

  // The flits of a message, head flits included.
  [[nodiscard]] std::uint64_t flits(Bytes bytes) const {
    const auto whole = [&](Bytes b) { return (b + flit_bytes - 1) / flit_bytes; };
    const Bytes rest = bytes % payload_bytes;
    const std::uint64_t packets = bytes / payload_bytes + (rest == 0 ? 0 : 1);
    return bytes / payload_bytes * whole(payload_bytes) + whole(rest) +
           (head_per_packet ? packets : 1);
  }
};

}  // namespace espalier
