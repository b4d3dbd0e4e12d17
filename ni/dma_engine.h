// The two paths from an NI to its memory: the DMA engine, which reads payload for the injection
// ports, and the memory port of program contexts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "hw/hash.h"
#include "hw/ids.h"
#include "ni/injection_port.h"

namespace espalier {

// A memory whose latency varies. Each read is delayed by 0 to `most` cycles, uniformly distributed.
// The delay depends only on the seed, the node and the read's ordinal at the node.
class DmaJitter {
 public:
  DmaJitter() = default;  // no delay
  DmaJitter(Cycle most, std::uint64_t seed, NodeId node)
      : most_(most), stream_(mix(seed, node.index())) {}

  // The delay of the next read.
  Cycle next() { return most_ == 0 ? 0 : mix(stream_, ++reads_) % (most_ + 1); }

 private:
  Cycle most_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t reads_ = 0;
};

struct DmaSpec {
  // From the issue of an operation to its first flit on the injection channel.
  Cycle latency = 2;
  // 0: each port is served at its own rate, so the engine is never the bottleneck
  std::uint64_t bytes_per_cycle = 0;
};

using InjectionPorts = std::vector<std::unique_ptr<InjectionPort>>;

// With a bandwidth limit, the ports share the engine packet by packet, round robin. A packet of b
// bytes occupies the engine for ceil(b / bytes_per_cycle) cycles, or longer if memory answers late.
// The packet can be sent `latency - 1` cycles after its last byte is read. Ports read ahead into
// their injection buffers.
class DmaEngine {
 public:
  explicit DmaEngine(const DmaSpec& spec) : spec_(spec) {}

  // Before the simulation.
  void set_jitter(const DmaJitter& jitter) { jitter_ = jitter; }

  [[nodiscard]] bool is_limited() const { return spec_.bytes_per_cycle != 0; }
  // Precondition: not limited. Returns when a message whose read starts now can be sent.
  [[nodiscard]] Cycle read_message(Cycle now) { return now + spec_.latency + jitter_.next(); }
  // Precondition: limited. Starts a read if possible. Returns the next cycle in which to call it.
  Cycle evaluate(Cycle now, InjectionPorts& ports);

  [[nodiscard]] bool busy(Cycle now) const { return free_ > now; }

 private:
  DmaSpec spec_;
  DmaJitter jitter_;
  Cycle free_ = 0;
  std::size_t next_port_ = 0;
};

// The port to memory that the program contexts of an NI share.
class MemoryPort {
 public:
  // 0: unlimited.
  explicit MemoryPort(Bytes bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}

  // Reads and writes are served in the order of requests. Returns the cycle in which the request is
  // done.
  Cycle move(Bytes bytes, Cycle now) {
    if (bytes_per_cycle_ == 0 || bytes == 0) return now;
    free_ = std::max(free_, now) + (bytes + bytes_per_cycle_ - 1) / bytes_per_cycle_;
    return free_;
  }

 private:
  Bytes bytes_per_cycle_;
  Cycle free_ = 0;
};

}  // namespace espalier
