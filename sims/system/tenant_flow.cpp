#include "sims/system/tenant_flow.h"

#include <algorithm>
#include <cmath>

#include "hw/hash.h"

namespace espalier {

namespace {

// Random streams of a flow.
enum Purpose : std::uint64_t { racks = 1, times = 2 };

std::uint64_t stream_of(const TenantsConfig& config, std::uint32_t number, Purpose purpose) {
  return mix(mix(config.seed, number), purpose);
}

}  // namespace

TenantFlow::TenantFlow(const TenantsConfig& config, const ClockSpec& clock, std::uint32_t number)
    : stream_(stream_of(config, number, Purpose::times)),
      mean_on_(cycles_covering(config.on_time_ps, clock)),
      mean_off_(cycles_covering(config.off_time_ps, clock)),
      bytes_(config.message_bytes),
      hertz_(clock.hertz),
      bytes_per_second_(config.bytes_per_second) {
  const double interval = static_cast<double>(bytes_) * static_cast<double>(hertz_) /
                          static_cast<double>(bytes_per_second_);
  phase_ = static_cast<Cycle>(unit_interval(draw()) * interval);
  // A flow starts in a stationary state. Geometric times have no memory, so its first phase has the
  // usual length.
  const double sends = static_cast<double>(mean_on_) / static_cast<double>(mean_on_ + mean_off_);
  if (unit_interval(draw()) >= sends) begin_ = draw_time(mean_off_);
  length_ = draw_time(mean_on_);
  find_next();
}

void TenantFlow::advance() {
  ++message_;
  find_next();
}

std::uint64_t TenantFlow::drawn_stream(std::uint64_t index) const { return mix(stream_, index); }

// An exponential variate, rounded up, which is geometric. Von Neumann's method needs only
// comparisons, so the result is the same on every machine.
Cycle TenantFlow::draw_time(Cycle mean) {
  for (std::uint64_t whole = 0;; ++whole) {
    const double first = unit_interval(draw());
    double last = first;
    bool odd = true;
    for (double next = unit_interval(draw()); next < last; next = unit_interval(draw())) {
      last = next;
      odd = !odd;
    }
    if (!odd) continue;
    const double time = (static_cast<double>(whole) + first) * static_cast<double>(mean);
    return std::max<Cycle>(1, static_cast<Cycle>(std::ceil(time)));
  }
}

void TenantFlow::find_next() {
  __extension__ using Wide = unsigned __int128;
  const Cycle sending =
      phase_ + static_cast<Cycle>(Wide{message_} * bytes_ * hertz_ / bytes_per_second_);
  while (sending >= sent_before_ + length_) {
    sent_before_ += length_;
    begin_ += length_ + (mean_off_ == 0 ? 0 : draw_time(mean_off_));
    length_ = draw_time(mean_on_);
  }
  next_ = begin_ + (sending - sent_before_);
}

RackPair racks_of_flow(const TenantsConfig& config, std::uint32_t racks, std::uint32_t number) {
  const std::uint64_t stream = stream_of(config, number, Purpose::racks);
  const auto from = static_cast<std::uint32_t>(mix(stream, 0) % racks);
  const auto away = static_cast<std::uint32_t>(1 + mix(stream, 1) % (racks - 1));
  return {from, (from + away) % racks};
}

}  // namespace espalier
