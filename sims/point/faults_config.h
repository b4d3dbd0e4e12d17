// Faults in a system's hardware, as a configuration says them. Nobody who plans knows of them:
// schedules, lockstep estimates and bounds are those of the healthy system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// All parallel links of one direction between two vertices.
struct SlowLink {
  std::string from;  // a node's number or a vertex's name, as written
  std::string to;
  std::uint64_t bytes_per_second = 0;  // 0: as fast as a healthy one
  std::uint64_t latency_ps = 0;        // 0: as quick as a healthy one
};

// The host posts its collective so much later than all others.
struct LateNi {
  std::uint32_t node = 0;
  Cycle cycles = 0;
};

// The NI's lockstep clock is behind everyone's, and slower.
struct ClockSkew {
  std::uint32_t node = 0;
  Cycle cycles = 0;    // behind: all that the host posts starts so much later
  Cycle per_step = 0;  // what the lockstep down-counter takes longer, each time
};

// Reads of the DMA engine take 0 to `max_cycles` longer.
struct DmaJitterConfig {
  Cycle max_cycles = 0;
  std::uint64_t seed = 1;
  std::vector<std::uint32_t> nodes;  // none: all
};

struct FaultsConfig {
  std::vector<SlowLink> slow_links;
  std::vector<LateNi> late_nis;
  std::vector<ClockSkew> clock_skew;
  std::optional<DmaJitterConfig> dma_jitter;
};

}  // namespace espalier
