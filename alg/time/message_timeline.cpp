#include "alg/time/message_timeline.h"

namespace espalier {

std::uint64_t MessageTimes::occupancy_ps(LinkId link, Bytes bytes) const {
  const std::uint64_t wire = timing_.flits(bytes) * timing_.flit_bytes;
  const std::uint64_t rate = topology_.link(link).spec.bytes_per_second;
  // Below 2^24 bytes the product with 10^12 fits; above, a bit of precision is given away.
  constexpr std::uint64_t kExact = std::uint64_t{1} << 24;
  constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
  if (wire < kExact) return (wire * kPsPerSecond + rate - 1) / rate;
  return static_cast<std::uint64_t>(static_cast<double>(wire) / static_cast<double>(rate) * 1e12) +
         1;
}

std::uint64_t MessageTimes::slowest_ps(RouteId route, Bytes bytes) const {
  std::uint64_t longest = 0;
  for (const LinkId l : routes_.links(route)) longest = std::max(longest, occupancy_ps(l, bytes));
  return longest;
}

std::uint64_t MessageTimes::head_ps(RouteId route, std::size_t hop) const {
  std::uint64_t sum = timing_.injection_ps + timing_.router_ps;
  for (std::size_t h = 0; h < hop; ++h) sum += hop_ps(routes_.link(route, h));
  return sum;
}

MessageTimeline::MessageTimeline(const Topology& topology, const RouteSet& routes,
                                 const MessageTiming& timing)
    : MessageTimes(topology, routes, timing),
      free_(topology.num_links(), 0),
      left_(topology.num_links() * timing.send_queue, 0),
      oldest_(topology.num_links(), 0) {}

std::uint64_t MessageTimeline::pass(LinkId link, Bytes bytes, std::uint64_t head,
                                    std::uint64_t& tail) {
  const std::uint64_t start = std::max(head, free_ps(link));
  tail = std::max(start + occupancy_ps(link, bytes), tail);
  keep_busy(link, tail);
  tail += hop_ps(link);
  return start;
}

void MessageTimeline::leave_queue(LinkId link, std::uint64_t start) {
  std::size_t& oldest = oldest_[link.index()];
  left_[link.index() * timing_.send_queue + oldest] = start;
  oldest = (oldest + 1) % timing_.send_queue;
}

}  // namespace espalier
