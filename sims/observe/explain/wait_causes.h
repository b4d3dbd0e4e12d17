// Why a flit that was ready did not move, from the record of what passed each channel: another
// packet had the output, the crossbar input or the VC, or credits were missing.
#pragma once

#include <cstdint>

#include "sims/observe/explain/channel_log.h"
#include "sims/observe/explain/segment.h"

namespace espalier {

struct RouterRules {
  bool shared_input = true;   // the VCs of a port share a crossbar input
  bool whole_packets = true;  // virtual cut-through: credits for a packet, not for a flit
};

// Explains [from, trail.at()): flit `flit` of `at`'s message is in the buffer behind `at`, could
// leave in cycle `from`, and leaves in cycle trail.at().
void wait_at_router(const ChannelLog& log, const RouterRules& rules, Trail& trail, Cycle from,
                    const Passage& at, std::uint64_t flit);
// Explains the same span for a flit that its NI could send over the channel of `at`. A cycle
// without another reason counts as the DMA engine's.
void wait_at_ni(const ChannelLog& log, const RouterRules& rules, Trail& trail, Cycle from,
                const Passage& at, std::uint64_t flit);

}  // namespace espalier
