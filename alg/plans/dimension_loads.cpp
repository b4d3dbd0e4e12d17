#include "alg/plans/dimension_loads.h"

#include <algorithm>

#include "alg/plans/dimension_plan.h"

namespace espalier {

namespace {

constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
constexpr std::uint64_t kFemtosecondsPerSecond = 1'000'000'000'000'000;

// What passes an NPU's links during the stage. An all_gather in the network sends less than that:
// one copy, but what comes back takes as long as anywhere.
std::uint64_t moved_parts(StageKind kind, std::uint32_t size, std::uint64_t parts) {
  return kind == StageKind::reduce_scatter ? parts / size * (size - 1) : parts * (size - 1);
}

}  // namespace

DimensionLoads::DimensionLoads(const std::vector<PlannedDimension>& dimensions,
                               std::uint32_t threshold_divisor)
    : dimensions_(dimensions), threshold_divisor_(threshold_divisor), loads_(dimensions.size()) {
  Time rates = 1;
  for (const PlannedDimension& d : dimensions) {
    nodes_ *= d.size;
    rates = lcm(rates, Time(d.bytes_per_second));
  }
  for (const PlannedDimension& d : dimensions) {
    units_per_part_.emplace_back(rates / d.bytes_per_second * kPicosecondsPerSecond);
  }
  units_per_second_ = rates * kPicosecondsPerSecond * nodes_ * threshold_divisor_;
}

void DimensionLoads::start_at_fixed_delays() {
  for (std::size_t d = 0; d < loads_.size(); ++d) {
    const PlannedDimension& dimension = dimensions_[d];
    const std::uint64_t steps = StageSteps(dimension.algorithm, dimension.size).steps();
    loads_[d] = units_per_second_ / kPicosecondsPerSecond * steps * dimension.step_latency_ps;
  }
}

DimensionLoads::Time DimensionLoads::stage_without_divisor(StageKind kind, std::size_t d,
                                                           Bytes bytes, std::uint64_t parts) const {
  return units_per_part_[d] * bytes * moved_parts(kind, dimensions_[d].size, parts);
}

void DimensionLoads::add(StageKind kind, std::size_t d, Bytes bytes, std::uint64_t parts) {
  loads_[d] += stage_without_divisor(kind, d, bytes, parts) * threshold_divisor_;
}

bool DimensionLoads::balanced(StageKind kind, Bytes bytes, std::uint64_t parts) const {
  const auto [least, most] = std::minmax_element(loads_.begin(), loads_.end());
  const auto least_loaded = static_cast<std::size_t>(least - loads_.begin());
  return *most - *least < stage_without_divisor(kind, least_loaded, bytes, parts);
}

std::vector<std::uint64_t> DimensionLoads::femtoseconds() const {
  std::vector<std::uint64_t> rounded;
  rounded.reserve(loads_.size());
  for (const Time& load : loads_) {
    const Time time = (load * kFemtosecondsPerSecond + units_per_second_ / 2) / units_per_second_;
    rounded.push_back(static_cast<std::uint64_t>(time));
  }
  return rounded;
}

}  // namespace espalier
