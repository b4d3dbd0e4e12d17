// Reads packets' payload from memory for the injection ports.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/ids.h"
#include "ni/dma_jitter.h"
#include "ni/injection_port.h"

namespace espalier {

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

}  // namespace espalier
