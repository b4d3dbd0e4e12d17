#include "alg/rank_order/spread_order.h"

#include <cmath>
#include <utility>

#include "alg/rank_order/random_source.h"

namespace espalier {

RankOrder order_of_cost(RankOrder start, double cost, std::uint64_t seed,
                        const std::function<double(const RankOrder&)>& cost_of) {
  constexpr std::uint32_t kPatience = 2000;
  constexpr double kNearEnough = 0.005;
  RankOrder order = std::move(start);
  RandomSource random(seed);
  const auto ranks = static_cast<std::uint32_t>(order.size());
  double distance = std::abs(cost_of(order) - cost);
  for (std::uint32_t idle = 0; idle < kPatience && distance > kNearEnough * cost; ++idle) {
    const std::uint32_t a = random.below(ranks);
    const std::uint32_t b = random.below(ranks);
    std::swap(order[a], order[b]);
    const double now = std::abs(cost_of(order) - cost);
    if (now >= distance) {
      std::swap(order[a], order[b]);
      continue;
    }
    distance = now;
    idle = 0;
  }
  return order;
}

}  // namespace espalier
