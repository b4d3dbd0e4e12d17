#include "router/switch_allocator.h"

#include <algorithm>
#include <utility>

namespace espalier {

SwitchAllocator::SwitchAllocator(std::uint32_t crossbar_inputs, std::uint32_t outputs)
    : arbiters_(outputs, RoundRobinArbiter(crossbar_inputs)),
      acceptors_(crossbar_inputs, RoundRobinArbiter(outputs)) {
  requests_.reserve(crossbar_inputs);
  winners_.reserve(outputs);
}

// Each output grants one request. Pointers do not move.
void SwitchAllocator::allocate_grants() {
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
}

const std::vector<SwitchAllocator::Request>& SwitchAllocator::allocate() {
  allocate_grants();
  std::sort(winners_.begin(), winners_.end(),
            [](const Request& a, const Request& b) { return a.output < b.output; });
  for (const Request& winner : winners_) arbiters_[winner.output].grant(winner.crossbar_input);
  return winners_;
}

void SwitchAllocator::request_output(const Request& request, const RoundRobinArbiter& vcs) {
  const auto rival = std::find_if(requests_.begin(), requests_.end(), [&](const Request& other) {
    return other.crossbar_input == request.crossbar_input && other.output == request.output;
  });
  if (rival == requests_.end()) {
    requests_.push_back(request);
  } else if (vcs.distance(request.vc) < vcs.distance(rival->vc)) {
    *rival = request;
  }
}

const std::vector<SwitchAllocator::Request>& SwitchAllocator::allocate_by_output() {
  allocate_grants();
  std::vector<Request> accepted;
  for (const Request& granted : winners_) {
    const RoundRobinArbiter& acceptor = acceptors_[granted.crossbar_input];
    const auto rival = std::find_if(accepted.begin(), accepted.end(), [&](const Request& other) {
      return other.crossbar_input == granted.crossbar_input;
    });
    if (rival == accepted.end()) {
      accepted.push_back(granted);
    } else if (acceptor.distance(granted.output) < acceptor.distance(rival->output)) {
      *rival = granted;
    }
  }
  winners_ = std::move(accepted);
  std::sort(winners_.begin(), winners_.end(),
            [](const Request& a, const Request& b) { return a.output < b.output; });
  for (const Request& winner : winners_) {
    arbiters_[winner.output].grant(winner.crossbar_input);
    acceptors_[winner.crossbar_input].grant(winner.output);
  }
  return winners_;
}

}  // namespace espalier
