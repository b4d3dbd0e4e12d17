#include "ni/dma_engine.h"

namespace espalier {

Cycle DmaEngine::evaluate(Cycle now, InjectionPorts& ports) {
  if (free_ > now) return free_;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::size_t p = (next_port_ + i) % ports.size();
    const Bytes bytes = ports[p]->queue().next_fetch();
    if (bytes == 0) continue;
    const Cycle duration =
        (bytes + spec_.bytes_per_cycle - 1) / spec_.bytes_per_cycle + jitter_.next();
    free_ = now + duration;
    ports[p]->queue().fetched(free_ - 1 + spec_.latency);
    next_port_ = (p + 1) % ports.size();
    return free_;
  }
  return kNever;  // new operations and leaving flits wake the NI
}

}  // namespace espalier
