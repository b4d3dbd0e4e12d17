#include "hw/topology/link_timing.h"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

namespace espalier {

namespace {
constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
constexpr Tick kMostTicksPerCycle = Tick{1} << 20;
// hertz * picoseconds of a slow link overflows 64 bits.
__extension__ using Wide = unsigned __int128;
}  // namespace

Cycle cycles_covering(std::uint64_t picoseconds, const ClockSpec& clock) {
  const Wide product = static_cast<Wide>(picoseconds) * clock.hertz;
  return static_cast<Cycle>((product + kPicosecondsPerSecond - 1) / kPicosecondsPerSecond);
}

std::uint64_t picoseconds_of(Cycle cycles, const ClockSpec& clock) {
  return static_cast<std::uint64_t>(static_cast<Wide>(cycles) * kPicosecondsPerSecond /
                                    clock.hertz);
}

SystemTiming time_links(const Topology& topology, const ClockSpec& clock) {
  return time_links(topology.links(), clock);
}

SystemTiming time_links(const std::vector<TopologyLink>& links, const ClockSpec& clock) {
  // Bytes per second at one flit per cycle.
  const auto full_rate = [&](const LinkSpec& link) {
    return clock.hertz * flit_bytes_of(link, clock);
  };
  SystemTiming timing;
  for (const TopologyLink& link : links) {
    const std::uint64_t rate = link.spec.bytes_per_second;
    const std::uint64_t full = full_rate(link.spec);
    if (rate == 0) throw std::invalid_argument("a link has no bandwidth");
    if (rate > full) {
      throw std::invalid_argument(fmt::format(
          "a link carries at most one flit per router cycle: {} B/s exceeds {} B x {} Hz", rate,
          flit_bytes_of(link.spec, clock), clock.hertz));
    }
    const std::uint64_t denominator = rate / std::gcd(full, rate);
    timing.ticks_per_cycle = std::lcm(timing.ticks_per_cycle, denominator);
    if (timing.ticks_per_cycle > kMostTicksPerCycle) {
      throw std::invalid_argument(
          fmt::format("link bandwidths need more than {} ticks per cycle to be exact; use rates "
                      "that are simpler "
                      "fractions of {} B/s",
                      kMostTicksPerCycle, full));
    }
  }
  timing.links.reserve(links.size());
  for (const TopologyLink& link : links) {
    const Cycle latency = cycles_covering(link.spec.latency_ps, clock);
    if (latency == 0) throw std::invalid_argument("a link's latency is at least one router cycle");
    const Wide ticks = static_cast<Wide>(full_rate(link.spec)) * timing.ticks_per_cycle;
    timing.links.push_back({latency, static_cast<Tick>(ticks / link.spec.bytes_per_second)});
  }
  return timing;
}

}  // namespace espalier
