#pragma once

#include <cstdint>

namespace espalier {

// Physical properties of a link; cycles follow from them and the router clock
// (hw/topology/link_timing.h).
struct LinkSpec {
  std::uint64_t latency_ps = 0;        // picoseconds
  std::uint64_t bytes_per_second = 0;  // one direction
  std::uint32_t flit_bytes = 0;        // 0: as wide as the system's (ClockSpec)

  [[nodiscard]] friend bool operator==(const LinkSpec& a, const LinkSpec& b) {
    return a.latency_ps == b.latency_ps && a.bytes_per_second == b.bytes_per_second &&
           a.flit_bytes == b.flit_bytes;
  }
};

}  // namespace espalier
