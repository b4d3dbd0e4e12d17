// Reads packets' payload from memory for the injection ports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "hw/hash.h"
#include "hw/ids.h"
#include "ni/injection_port.h"

namespace espalier {

// Delays of 0 to `most` cycles, each as likely. The delay of a read depends on seed, node and its
// ordinal at that node alone, not on when or beside what it happens.
class DmaJitter {
 public:
  DmaJitter() = default;  // none
  DmaJitter(Cycle most, std::uint64_t seed, NodeId node)
      : most_(most), stream_(mix(seed, node.index())) {}

  // Of the next read.
  Cycle next() { return most_ == 0 ? 0 : mix(stream_, ++reads_) % (most_ + 1); }

 private:
  Cycle most_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t reads_ = 0;
};

struct DmaSpec {
  Cycle latency = 2;                  // operation issued -> first flit on the injection channel
  std::uint64_t bytes_per_cycle = 0;  // 0: a port's own rate each, never the bottleneck
};

using InjectionPorts = std::vector<std::unique_ptr<InjectionPort>>;

// With a bandwidth limit the engine is shared by the ports and granted packet by packet, round
// robin; a packet of b bytes occupies it for ceil(b / bytes_per_cycle) cycles, and longer where
// memory answers late, and can be sent `latency - 1` cycles after its last one. Ports read ahead as
// far as their injection buffer holds.
class DmaEngine {
 public:
  explicit DmaEngine(const DmaSpec& spec) : spec_(spec) {}

  // Before the simulation: memory answers late.
  void set_jitter(const DmaJitter& jitter) { jitter_ = jitter; }

  [[nodiscard]] bool is_limited() const { return spec_.bytes_per_cycle != 0; }
  // Precondition: not limited. When a whole message that is asked for now can be sent.
  [[nodiscard]] Cycle read_message(Cycle now) { return now + spec_.latency + jitter_.next(); }
  // Precondition: limited. Starts what can start in this cycle. Returns the next cycle in which it
  // is worth asking again.
  Cycle evaluate(Cycle now, InjectionPorts& ports);

  [[nodiscard]] bool busy(Cycle now) const { return free_ > now; }

 private:
  DmaSpec spec_;
  DmaJitter jitter_;
  Cycle free_ = 0;
  std::size_t next_port_ = 0;
};

class MemoryPort {
 public:
  // 0: never the bottleneck.
  explicit MemoryPort(Bytes bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}

  // Reads and writes, in the order in which they are asked for. Returns when they are done.
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
