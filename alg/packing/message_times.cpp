#include "alg/packing/message_times.h"

#include <algorithm>

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

std::uint64_t LinkTimeline::pass(LinkId link, Bytes bytes, std::uint64_t head,
                                 std::uint64_t& tail) {
  const std::uint64_t start = std::max(head, free_[link.index()]);
  const std::uint64_t hop_ps = times_.hop_ps(link);
  tail = std::max(start + times_.occupancy_ps(link, bytes), tail) + hop_ps;
  free_[link.index()] = tail - hop_ps;
  return start;
}

}  // namespace espalier
