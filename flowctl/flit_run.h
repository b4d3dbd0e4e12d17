// A run of flits, or of credits, at a fixed rate: without a gap, or in packets whose distances
// repeat. Trains consist of runs. A closed form gives the number of flits that have passed at any
// tick, so no counter advances with time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

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

// When the packets of a comb start. A comb comes from a sender that waits before some packets: for
// their data, or for their credits. Its packets start in periods that are alike.
struct Comb {
  Tick stride = 0;  // one period
  // A sender that waits for credits starts in the clock cycle in which it sees the last one. So
  // with `clock` (ticks per cycle) each period starts at the first tick of its cycle. 0: as given.
  Tick clock = 0;
  std::uint32_t packet = 0;  // flits, which follow each other at the run's rate
  // The packets of a period after its first: ticks after the period's start, ascending. Only the
  // first packet of a period is clocked.
  std::vector<Tick> others;

  [[nodiscard]] std::uint64_t flits() const { return packet * (others.size() + 1); }
  [[nodiscard]] Tick offset_of(std::uint64_t number) const {
    return number == 0 ? 0 : others[number - 1];
  }
  friend bool operator<(const Comb& a, const Comb& b) {
    return std::tie(a.stride, a.clock, a.packet, a.others) <
           std::tie(b.stride, b.clock, b.packet, b.others);
  }
};

// The combs of a system, each once, for as long as the pool lives.
class CombPool {
 public:
  // nullptr if the comb is new and the pool is full: where packets never settle, every period is a
  // new comb.
  [[nodiscard]] const Comb* get(Comb&& comb) {
    if (combs_.size() < kMostCombs) return &*combs_.insert(std::move(comb)).first;
    const auto known = combs_.find(comb);
    return known == combs_.end() ? nullptr : &*known;
  }

 private:
  static constexpr std::size_t kMostCombs = 16384;
  std::set<Comb> combs_;
};

// Tick number k is first + k * step; if that is not exact, it is not later than that.
struct TickLine {
  Tick first = 0;
  Tick step = 0;
  bool exact = true;
};

// Plain run: flit i at tick start + i * rate. Run with a comb: packets start as the comb says, with
// its first period at `start`. Precondition: a packet ends before the next one starts.
struct FlitRun {
  Tick start = 0;  // tick of the first flit if phase is 0 and no clock rounds it
  Tick rate = 1;   // ticks from one flit to the next in a packet
  std::uint64_t n = 0;
  const Comb* comb = nullptr;  // nullptr: a plain run
  std::uint32_t phase = 0;     // flits of the first period that have passed, < comb->flits()

  [[nodiscard]] bool has_gaps() const { return comb != nullptr; }
  // Its packets are at equal distances.
  [[nodiscard]] bool is_even() const { return comb == nullptr || comb->others.empty(); }
  [[nodiscard]] Tick start_of_period(std::uint64_t number) const {
    const Tick tick = start + number * comb->stride;
    return comb->clock == 0 ? tick : tick - tick % comb->clock;
  }
  [[nodiscard]] std::uint64_t before(Tick tick) const {
    if (comb == nullptr) return std::min(n, ticks_before(start, rate, tick));
    // A clocked period starts before `tick` if its unclocked start lies before the cycle's end.
    const Tick clock = comb->clock;
    const Tick until = clock == 0 ? tick : (tick + clock - 1) / clock * clock;
    const std::uint64_t begun = ticks_before(start, comb->stride, until);
    if (begun == 0) return 0;
    const Tick from = start_of_period(begun - 1);
    const std::vector<Tick>& others = comb->others;
    const auto packets = static_cast<std::uint64_t>(
        others.empty() || tick <= from
            ? 0
            : std::lower_bound(others.begin(), others.end(), tick - from) - others.begin());
    const std::uint64_t flits =
        (begun - 1) * comb->flits() + packets * comb->packet +
        std::min<std::uint64_t>(comb->packet,
                                ticks_before(from + comb->offset_of(packets), rate, tick));
    return flits <= phase ? 0 : std::min(n, flits - phase);
  }
  [[nodiscard]] Tick tick_of(std::uint64_t i) const {
    if (comb == nullptr) return start + i * rate;
    const std::uint64_t flit = i + phase;
    const std::uint64_t in_period = flit % comb->flits();
    return start_of_period(flit / comb->flits()) + comb->offset_of(in_period / comb->packet) +
           in_period % comb->packet * rate;
  }
  // The tick from which the wire is free after the first `count` flits. Precondition: count > 0.
  [[nodiscard]] Tick end_of(std::uint64_t count) const {
    return comb == nullptr ? start + count * rate : tick_of(count - 1) + rate;
  }
  // The packets of `packet` flits that begin with flit `i`; nothing if they are not the run's own,
  // or not at equal distances.
  [[nodiscard]] std::optional<PacketStarts> packets_from(std::uint64_t i,
                                                         std::uint64_t packet) const {
    if (comb == nullptr) return PacketStarts{start + i * rate, packet * rate, 0};
    const std::uint64_t flit = i + phase;
    if (!is_even() || comb->packet != packet || flit % packet != 0) return std::nullopt;
    return PacketStarts{start + flit / packet * comb->stride, comb->stride, comb->clock};
  }
  // Flits i, i + flits, i + 2 * flits ...; nothing if their distances differ too much for a line.
  [[nodiscard]] std::optional<TickLine> line_of(std::uint64_t i, std::uint64_t flits) const {
    if (comb == nullptr) return TickLine{start + i * rate, flits * rate};
    const std::uint64_t period = comb->flits();
    if (flits % period == 0) {
      const Tick step = flits / period * comb->stride;
      if (comb->clock == 0 || step % comb->clock == 0) return TickLine{tick_of(i), step};
      const std::uint64_t flit = i + phase;
      return TickLine{start + flit / period * comb->stride + flit % period * rate, step, false};
    }
    if (!is_even()) return std::nullopt;
    // No flit is later than on the line through the starts of the periods.
    const auto along = [&](std::uint64_t count) {
      return (count * comb->stride + period - 1) / period;
    };
    return TickLine{start + along(i + phase), along(flits), false};
  }
  // `next` follows without a gap, or as the comb's next packet, at the same rate.
  [[nodiscard]] bool goes_on_with(const FlitRun& next) const {
    if (rate != next.rate || comb != next.comb) return false;
    if (comb == nullptr) return tick_of(n) == next.start;
    const std::uint64_t flit = phase + n;
    return flit % comb->flits() == next.phase &&
           start + flit / comb->flits() * comb->stride == next.start;
  }
  // The first `count` flits pass.
  void drop(std::uint64_t count) {
    n -= count;
    if (comb == nullptr) {
      start += count * rate;
      return;
    }
    const std::uint64_t flit = phase + count;
    start += flit / comb->flits() * comb->stride;
    phase = static_cast<std::uint32_t>(flit % comb->flits());
  }
  void delay(Tick ticks) { start += ticks; }
  // A comb of at most `most` whole packets. Precondition: phase is 0.
  void keep_packets(std::uint64_t most) {
    if (comb != nullptr) n = std::min(n, most * comb->packet);
  }
};
static_assert(sizeof(FlitRun) == 40);

}  // namespace espalier
