// Faults in a system's hardware as a configuration states them. Planning ignores them: schedules,
// lockstep estimates and bounds are computed for the healthy system.
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
  std::uint64_t bytes_per_second = 0;  // 0: as a healthy link
  std::uint64_t latency_ps = 0;        // 0: as a healthy link
};

// The host posts its collective this many cycles later than all other hosts.
struct LateNi {
  std::uint32_t node = 0;
  Cycle cycles = 0;
};

// The NI's lockstep clock is behind all others, and slower.
struct ClockSkew {
  std::uint32_t node = 0;
  Cycle cycles = 0;    // all posts of the host start this much later
  Cycle per_step = 0;  // additional cycles of the lockstep down-counter in each step
};

// Reads of the DMA engine take 0 to `max_cycles` cycles longer.
struct DmaJitterConfig {
  Cycle max_cycles = 0;
  std::uint64_t seed = 1;
  std::vector<std::uint32_t> nodes;  // empty: all nodes
};

// Every host posts its collective 0 to `max_cycles` cycles late.
struct PostSpread {
  Cycle max_cycles = 0;
  std::uint64_t seed = 0;
};

struct FaultsConfig {
  std::vector<SlowLink> slow_links;
  std::vector<LateNi> late_nis;
  std::vector<ClockSkew> clock_skew;
  PostSpread post_spread;
  std::optional<DmaJitterConfig> dma_jitter;
};

}  // namespace espalier
