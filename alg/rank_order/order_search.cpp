#include "alg/rank_order/order_search.h"

#include <algorithm>

#include "alg/rank_order/annealing.h"
#include "alg/rank_order/tabu.h"

namespace espalier {

namespace {

constexpr std::size_t kSmall = 32;
constexpr std::size_t kLarge = 128;

// Small networks from several starts, larger ones from the same with other random numbers.
std::uint64_t num_starts(std::size_t ranks, std::uint64_t evaluations) {
  const std::uint64_t wanted = ranks <= kSmall ? 8 : ranks <= kLarge ? 4 : 2;
  return std::clamp<std::uint64_t>(evaluations / (64 * ranks), 1, wanted);
}

// The nodes as they stand, where that is better than what clustering makes of them.
RankOrder clustered_or_as_they_stand(const CostModel& model, const CostMatrix& costs,
                                     OrderDirection direction) {
  RankOrder clustered = clustered_start(model, costs, direction);
  RankOrder identity = identity_permutation(costs.nodes());
  const Cost of_clustered = full_cost(model, costs, clustered);
  const Cost of_identity = full_cost(model, costs, identity);
  const bool stand =
      direction == OrderDirection::worst ? of_identity > of_clustered : of_identity < of_clustered;
  return stand ? identity : clustered;
}

RankOrder start_order(const CostModel& model, const CostMatrix& costs, const OrderSearchSpec& spec,
                      std::uint64_t start) {
  if (start != 0 && model.ranks <= kSmall)
    return random_permutation(costs.nodes(), mix(spec.seed, start));
  switch (spec.start) {
    case OrderStart::clustered:
      return clustered_or_as_they_stand(model, costs, spec.direction);
    case OrderStart::identity:
      return identity_permutation(costs.nodes());
    case OrderStart::random:
      return random_permutation(costs.nodes(), mix(spec.seed, start));
  }
  return identity_permutation(costs.nodes());
}

}  // namespace

FoundOrder search_order(const CostModel& model, const CostMatrix& costs,
                        const OrderSearchSpec& spec, const SearchProgress& progress) {
  const auto cost = make_order_cost(model, costs);
  BestOrder best(spec.direction);
  cost->reset(identity_permutation(costs.nodes()));
  best.offer(*cost);
  const std::uint64_t starts = num_starts(model.ranks, spec.evaluations);
  for (std::uint64_t start = 0; start < starts; ++start) {
    const std::uint64_t budget =
        spec.evaluations / starts + (start < spec.evaluations % starts ? 1 : 0);
    cost->reset(start_order(model, costs, spec, start));
    best.offer(*cost);
    if (model.ranks < 2) break;
    RandomSource random(mix(mix(spec.seed), start));
    const SearchProgress part = [&](double done) {
      if (progress) progress((static_cast<double>(start) + done) / static_cast<double>(starts));
    };
    if (spec.search == OrderSearch::tabu) {
      tabu_search(*cost, random, budget, best, part);
    } else {
      anneal(*cost, random, budget, best, part);
    }
  }
  return best.take();
}

}  // namespace espalier
