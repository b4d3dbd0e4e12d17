#include "sims/formats/link_rules.h"

#include <fmt/format.h>

#include "sims/point/limits.h"
#include "sims/text/units.h"

namespace espalier {

ValueShape link_latency_shape() {
  ValueShape shape;
  shape.type = ValueType::time;
  shape.min = 1;
  shape.max = kLongestLinkLatency;
  return shape;
}

ValueShape link_bandwidth_shape() {
  ValueShape shape;
  shape.type = ValueType::rate;
  shape.min = kSlowestLink;
  shape.max = kFastestLink;
  return shape;
}

void check_link_rate(std::uint64_t bytes_per_second, const ClockSpec& clock, const Place& place,
                     Diagnostics& diagnostics) {
  const std::uint64_t fastest = clock.hertz * clock.flit_bytes;
  if (bytes_per_second <= fastest) return;
  const std::uint64_t flit_bytes = (bytes_per_second + clock.hertz - 1) / clock.hertz;
  diagnostics.error(
      place,
      fmt::format(
          "a link carries at most one flit per router cycle: {} is more than {} B x {} = {}",
          format_quantity(Quantity::rate, bytes_per_second), clock.flit_bytes,
          format_quantity(Quantity::frequency, clock.hertz),
          format_quantity(Quantity::rate, fastest)),
      fmt::format("a slower link, a faster clock, or system.router.flit_bytes of at least {}",
                  flit_bytes));
}

void check_whole_cycles(const char* what, std::uint64_t picoseconds, const ClockSpec& clock,
                        const Place& place, Diagnostics& diagnostics) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
  const Wide product = static_cast<Wide>(picoseconds) * clock.hertz;
  if (product % kPicosecondsPerSecond == 0) return;
  const Cycle cycles = cycles_covering(picoseconds, clock);
  diagnostics.warning(
      place, fmt::format("{} of {} is not a whole number of cycles at {}: rounded up to {} cycle{}",
                         what, format_quantity(Quantity::time, picoseconds),
                         format_quantity(Quantity::frequency, clock.hertz), cycles,
                         cycles == 1 ? "" : "s"));
}

}  // namespace espalier
