#include "router/switch_allocator.h"

#include <algorithm>

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
    const auto rival = std::find_if(winners_.begin(), winners_.end(), [&](const Request& winner) {
      return winner.output == request.output;
    });
    if (rival == winners_.end()) {
      winners_.push_back(request);
    } else if (arbiter.distance(request.crossbar_input) < arbiter.distance(rival->crossbar_input)) {
      *rival = request;
    }
  }
  std::sort(winners_.begin(), winners_.end(),
            [](const Request& a, const Request& b) { return a.output < b.output; });
  for (const Request& winner : winners_) arbiters_[winner.output].grant(winner.crossbar_input);
  return winners_;
}

}  // namespace espalier
