// The time that a collective program takes, message by message and without the flit model: as
// schedule_time_ps() plans schedules (alg/time/schedule_time.h).
#pragma once

#include <cstdint>
#include <limits>

#include "alg/program/program.h"
#include "alg/program/protocol.h"
#include "alg/schedule/message_timing.h"
#include "hw/topology/topology.h"

namespace espalier {

// What an NI's program contexts add to the times of messages.
struct ContextTiming {
  MessageTiming message;
  std::uint64_t decode_ps = 1000;        // before every step
  std::uint64_t memory_ps = 2000;        // a copy or a reduce reads its operands
  Bytes request_bytes = Bytes{1} << 16;  // a step moves in messages of at most this many bytes
};

// From the call to the end of the last context, in ps, if every link and every NI port is first
// come first served, for whole messages, and nothing else limits the contexts: no launch, no full
// slot, and no rates of memory, reduction and contexts. Messages are cut through at nodes that they
// pass, as long as they are; routers have room for them. Where the time is over `limit`, the answer
// is some time over `limit` that the program does not beat.
// Preconditions: the program is certified, or at least well-formed, and its data pass once
// (tiling.tiles == 1).
[[nodiscard]] std::uint64_t program_time_ps(
    const Topology& topology, const Program& program, const Tiling& tiling,
    const ContextTiming& timing, std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

}  // namespace espalier
