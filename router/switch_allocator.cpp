#include "router/switch_allocator.h"

namespace espalier {

SwitchAllocator::SwitchAllocator(std::uint32_t crossbar_inputs, std::uint32_t outputs)
    : arbiters_(outputs, RoundRobinArbiter(crossbar_inputs)) {
  requests_.reserve(crossbar_inputs);
  winners_.reserve(outputs);
}

const std::vector<SwitchAllocator::Request>& SwitchAllocator::allocate() {
  winners_.clear();
  for (const Request& request : requests_) {
    const RoundRobinArbiter& arbiter = arbiters_[request.output];
    auto rival = winners_.begin();
    while (rival != winners_.end() && rival->output < request.output) ++rival;
    if (rival == winners_.end() || rival->output != request.output) {
      winners_.insert(rival, request);
    } else if (arbiter.distance(request.crossbar_input) < arbiter.distance(rival->crossbar_input)) {
      *rival = request;
    }
  }
  for (const Request& winner : winners_) arbiters_[winner.output].grant(winner.crossbar_input);
  return winners_;
}

}  // namespace espalier
