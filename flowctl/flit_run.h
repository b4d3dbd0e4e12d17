// A run of flits, or of credits, at a fixed rate: without a gap, or in bursts at equal distances.
// Trains consist of runs. A closed form gives the number of flits that have passed at any tick, so
// no counter advances with time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "hw/topology/link_timing.h"

namespace espalier {

// The number of ticks in start, start + rate, ... that lie before `tick`.
[[nodiscard]] inline std::uint64_t ticks_before(Tick start, Tick rate, Tick tick) {
  if (tick <= start) return 0;
  const Tick passed = tick - start;
  return rate == 1 ? passed : (passed + rate - 1) / rate;
}

// The cycle of a tick. Most systems have one tick per cycle; the test avoids a slow division.
[[nodiscard]] inline Cycle cycle_of_tick(Tick tick, Tick ticks_per_cycle) {
  return ticks_per_cycle == 1 ? tick : tick / ticks_per_cycle;
}

// When packets of equal length start: packet k at tick first + k * stride, or with `clock` (ticks
// per cycle) at the first tick of that cycle.
struct PacketStarts {
  Tick first = 0;
  Tick stride = 0;
  Tick clock = 0;

  [[nodiscard]] Tick first_start() const { return clock == 0 ? first : first - first % clock; }
};

// Plain run: flit i at tick start + i * rate. Comb: bursts of `burst` flits, of which the i-th flit
// comes i * rate after the burst's start; bursts start every `stride` ticks. A comb comes from a
// sender that waits for each packet: for its data from a slow link, or for its credits. A sender
// that waits for credits starts in the clock cycle in which it sees the last one, so with `clock`
// (ticks per cycle) each burst starts at the first tick of the cycle of tick start + k * stride.
// Precondition: a burst ends before the next one starts.
struct FlitRun {
  Tick start = 0;  // tick of the first flit if phase and clock are 0
  Tick rate = 1;   // ticks from one flit to the next in a burst
  std::uint64_t n = 0;
  Tick stride = 0;
  std::uint32_t clock = 0;
  std::uint16_t burst = 0;  // 0: a plain run
  std::uint16_t phase = 0;  // flits of the first burst that have passed, < burst

  [[nodiscard]] bool has_gaps() const { return burst != 0; }
  [[nodiscard]] Tick start_of_burst(std::uint64_t number) const {
    const Tick tick = start + number * stride;
    return clock == 0 ? tick : tick - tick % clock;
  }
  [[nodiscard]] std::uint64_t before(Tick tick) const {
    if (burst == 0) return std::min(n, ticks_before(start, rate, tick));
    // A clocked burst starts before `tick` if its unclocked start lies before the cycle's end.
    const Tick until = clock == 0 ? tick : (tick + clock - 1) / clock * clock;
    const std::uint64_t begun = ticks_before(start, stride, until);
    if (begun == 0) return 0;
    const std::uint64_t flits =
        (begun - 1) * burst +
        std::min<std::uint64_t>(burst, ticks_before(start_of_burst(begun - 1), rate, tick));
    return flits <= phase ? 0 : std::min(n, flits - phase);
  }
  [[nodiscard]] Tick tick_of(std::uint64_t i) const {
    if (burst == 0) return start + i * rate;
    const std::uint64_t flit = i + phase;
    return start_of_burst(flit / burst) + flit % burst * rate;
  }
  // The tick from which the wire is free after the first `count` flits. Precondition: count > 0.
  [[nodiscard]] Tick end_of(std::uint64_t count) const {
    return burst == 0 ? start + count * rate : tick_of(count - 1) + rate;
  }
  // The packets of `packet` flits that begin with flit `i`; nothing if bursts are not packets.
  [[nodiscard]] std::optional<PacketStarts> packets_from(std::uint64_t i,
                                                         std::uint64_t packet) const {
    if (burst == 0) return PacketStarts{start + i * rate, packet * rate, 0};
    const std::uint64_t flit = i + phase;
    if (burst != packet || flit % burst != 0) return std::nullopt;
    return PacketStarts{start + flit / burst * stride, stride, clock};
  }
  // `next` follows without a gap, or as the next burst, at the same rate.
  [[nodiscard]] bool goes_on_with(const FlitRun& next) const {
    if (rate != next.rate || burst != next.burst) return false;
    if (burst == 0) return tick_of(n) == next.start;
    return stride == next.stride && clock == next.clock && (phase + n) % burst == next.phase &&
           start + (phase + n) / burst * stride == next.start;
  }
  // The first `count` flits pass.
  void drop(std::uint64_t count) {
    n -= count;
    if (burst == 0) {
      start += count * rate;
      return;
    }
    const std::uint64_t flit = phase + count;
    start += flit / burst * stride;
    phase = static_cast<std::uint16_t>(flit % burst);
  }
  void delay(Tick ticks) { start += ticks; }
  // A comb of at most `most` whole bursts. Precondition: phase is 0.
  void keep_bursts(std::uint64_t most) {
    if (burst != 0) n = std::min(n, most * burst);
  }
};
static_assert(sizeof(FlitRun) == 40);

}  // namespace espalier
