// Separable, input-first switch allocation with round-robin arbiters, one iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/counters.h"

namespace espalier {

// Picks the first requester at or after the pointer. A grant moves the pointer to winner + 1. So
// granting the same requester again without competitors changes nothing.
class RoundRobinArbiter {
 public:
  explicit RoundRobinArbiter(std::uint32_t requesters) : requesters_(requesters) {}

  // Steps from the pointer to `requester`; 0 for the requester with the highest priority.
  [[nodiscard]] std::uint32_t distance(std::uint32_t requester) const {
    return requester >= pointer_ ? requester - pointer_ : requester + requesters_ - pointer_;
  }
  // Picks one of the set bits of `requests` (at most 32 requesters). Precondition: `requests` is
  // not 0.
  [[nodiscard]] std::uint32_t pick(std::uint32_t requests) const {
    const std::uint32_t from_pointer = requests & ~((std::uint32_t{1} << pointer_) - 1);
    return static_cast<std::uint32_t>(__builtin_ctz(from_pointer != 0 ? from_pointer : requests));
  }
  void grant(std::uint32_t winner) { pointer_ = winner + 1 == requesters_ ? 0 : winner + 1; }
  [[nodiscard]] std::uint32_t pointer() const { return pointer_; }
  [[nodiscard]] bool has_just_granted(std::uint32_t requester) const {
    return pointer_ == (requester + 1 == requesters_ ? 0 : requester + 1);
  }
  // Precondition: it has granted.
  [[nodiscard]] std::uint32_t last_winner() const {
    return (pointer_ == 0 ? requesters_ : pointer_) - 1;
  }

 private:
  std::uint32_t requesters_;
  std::uint32_t pointer_ = 0;
};

// The output stage: each crossbar input requests at most one output, and each output picks one
// crossbar input.
class SwitchAllocator {
 public:
  struct Request {
    std::uint32_t crossbar_input;
    std::uint32_t output;
    std::uint32_t input;   // input port of the requester
    std::uint32_t vc;      // VC of the requester
    std::uint32_t out_vc;  // promised downstream VC
    bool starts;           // its first flit is the first one of a packet or sub-packet
    std::uint64_t start;   // promised tick of its first flit
    std::uint64_t ready;   // the earliest tick of its first flit on a free wire, with credits
  };

  SwitchAllocator(std::uint32_t crossbar_inputs, std::uint32_t outputs);

  void clear() { requests_.clear(); }
  void request(const Request& request) { requests_.push_back(request); }
  [[nodiscard]] bool any() const { return !requests_.empty(); }
  // Winners, at most one per output, in ascending output; valid until the next call. Moves the
  // outputs' pointers.
  const std::vector<Request>& allocate();
  // If there is only one request, returns it as the winner; otherwise nullptr.
  [[nodiscard]] const Request* only_request() const {
    return requests_.size() == 1 ? requests_.data() : nullptr;
  }
  void grant(const Request& request) { arbiters_[request.output].grant(request.crossbar_input); }
  [[nodiscard]] RoundRobinArbiter& arbiter(std::uint32_t output) { return arbiters_[output]; }
  [[nodiscard]] bool has_just_granted(std::uint32_t output, std::uint32_t crossbar_input) const {
    return arbiters_[output].has_just_granted(crossbar_input);
  }
  [[nodiscard]] bool all_granted() const { return winners_.size() == requests_.size(); }

 private:
  std::vector<RoundRobinArbiter> arbiters_;  // by output
  std::vector<Request> requests_;
  std::vector<Request> winners_;
};

// The counter of the decisions for which is_link_conflict() is true.
inline const CounterId kLinkConflicts = counter("link_conflicts");

// True if two messages contend for a link: the packet that is granted now was ready while the wire,
// which is free from `free_tick` on, carried a packet of another input port, `input_before`.
[[nodiscard]] inline bool is_link_conflict(const SwitchAllocator::Request& granted,
                                           std::uint32_t input_before, std::uint64_t free_tick) {
  return granted.input != input_before && granted.ready < free_tick;
}

}  // namespace espalier
