// A bound for rounds whose cost is that of their slowest pair.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "alg/rank_order/order_bound.h"

namespace espalier {

namespace {

// What any k rounds require of the hops.
struct Need {
  std::size_t degree = 0;   // different partners of a rank
  std::size_t ranks = 0;    // number of ranks with that degree
  std::size_t divisor = 1;  // divides the size of every connected part
};

// Number of each rank's different partners in the rounds.
std::vector<std::size_t> degrees(const CostModel& model,
                                 const std::vector<const CostRound*>& rounds) {
  std::vector<std::set<std::uint32_t>> partners(model.ranks);
  for (const CostRound* round : rounds) {
    for (const RankPair& pair : round->pairs) {
      partners[pair.a].insert(pair.b);
      partners[pair.b].insert(pair.a);
    }
  }
  std::vector<std::size_t> count;
  count.reserve(partners.size());
  for (const auto& of_rank : partners) count.push_back(of_rank.size());
  return count;
}

std::size_t root_of(std::vector<std::size_t>& parent, std::size_t n) {
  while (parent[n] != n) n = parent[n] = parent[parent[n]];
  return n;
}

class Thresholds {
 public:
  Thresholds(std::vector<Cost> hops, std::size_t nodes) : hops_(std::move(hops)), nodes_(nodes) {
    sorted_.resize(nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
      for (std::size_t m = 0; m < nodes; ++m) {
        if (m != n) sorted_[n].push_back(hops_[n * nodes + m]);
      }
      std::sort(sorted_[n].begin(), sorted_[n].end());
    }
    limits_ = hops_;
    std::sort(limits_.begin(), limits_.end());
    limits_.erase(std::unique(limits_.begin(), limits_.end()), limits_.end());
  }

  // The lowest cost such that the hops up to this cost can meet the need.
  [[nodiscard]] Cost lowest(const Need& need) const {
    Cost cost = 0;
    if (need.degree != 0 && need.ranks != 0) {
      std::vector<Cost> reached;
      for (const auto& of_node : sorted_) reached.push_back(of_node[need.degree - 1]);
      std::sort(reached.begin(), reached.end());
      cost = reached[need.ranks - 1];
    }
    if (need.divisor > 1) cost = std::max(cost, lowest_with_parts(need.divisor));
    return cost;
  }

 private:
  // With a higher limit, whole parts merge, so sizes stay divisible.
  [[nodiscard]] Cost lowest_with_parts(std::size_t divisor) const {
    std::size_t low = 0;
    std::size_t high = limits_.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (has_parts(limits_[middle], divisor)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return limits_[low];
  }

  [[nodiscard]] bool has_parts(Cost limit, std::size_t divisor) const {
    std::vector<std::size_t> parent(nodes_);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    for (std::size_t n = 0; n < nodes_; ++n) {
      for (std::size_t m = n + 1; m < nodes_; ++m) {
        if (hops_[n * nodes_ + m] <= limit) parent[root_of(parent, m)] = root_of(parent, n);
      }
    }
    std::vector<std::size_t> size(nodes_, 0);
    for (std::size_t n = 0; n < nodes_; ++n) ++size[root_of(parent, n)];
    return std::all_of(size.begin(), size.end(), [&](std::size_t s) { return s % divisor == 0; });
  }

  std::vector<Cost> hops_;
  std::size_t nodes_;
  std::vector<std::vector<Cost>> sorted_;  // by node
  std::vector<Cost> limits_;
};

Need need_of_round(const CostModel& model, const CostRound& round) {
  Need need;
  need.degree = model.ranks;
  for (const std::size_t degree : degrees(model, {&round})) {
    if (degree == 0) continue;
    ++need.ranks;
    need.degree = std::min(need.degree, degree);
  }
  return need;
}

// The size of the groups if every round divides all ranks into groups of equal size and no pair
// meets twice; otherwise 0. Any k rounds then give every rank k times the partners of one round,
// and connect groups whose size is the k-th power.
std::size_t regular_group(const CostModel& model) {
  std::vector<const CostRound*> all;
  std::size_t of_round = 0;
  for (const CostRound& round : model.rounds) {
    all.push_back(&round);
    const Need need = need_of_round(model, round);
    if (need.ranks != model.ranks || round.pairs.size() * 2 != model.ranks * need.degree) return 0;
    if (of_round != 0 && of_round != need.degree) return 0;
    of_round = need.degree;
  }
  std::size_t product = 1;
  for (std::size_t r = 0; r < all.size(); ++r) product *= of_round + 1;
  const auto total = degrees(model, all);
  const bool disjoint = std::all_of(total.begin(), total.end(), [&](std::size_t degree) {
    return degree == of_round * all.size();
  });
  return disjoint && product == model.ranks ? of_round + 1 : 0;
}

// The sum of the bounds of single rounds.
Cost separate_bound(const CostModel& model, const CostMatrix& costs) {
  Cost total = 0;
  for (const CostRound& round : model.rounds) {
    const Thresholds thresholds(costs.costs(round.bytes), costs.nodes());
    total += thresholds.lowest(need_of_round(model, round));
  }
  return total;
}

// Let M_1 <= M_2 <= ... be the slowest pairs of the rounds in one matrix. M_k is at least L_k, the
// lowest cost that meets the need of k rounds. The sum is least if the largest weight w meets the
// smallest M.
Cost joint_bound(const CostModel& model, const CostMatrix& costs, std::size_t group) {
  std::vector<Cost> weights;
  for (const CostRound& round : model.rounds) {
    weights.push_back(costs.is_proportional() ? costs.weight_of(round.bytes) : 1);
  }
  Bytes least = model.rounds.front().bytes;
  for (const CostRound& round : model.rounds) least = std::min(least, round.bytes);
  const Thresholds thresholds(costs.is_proportional() ? costs.latencies() : costs.costs(least),
                              costs.nodes());
  std::sort(weights.begin(), weights.end(), std::greater<>());
  Cost total = 0;
  std::size_t parts = 1;
  for (std::size_t k = 1; k <= weights.size(); ++k) {
    parts *= group;
    total += weights[k - 1] * thresholds.lowest({(group - 1) * k, costs.nodes(), parts});
  }
  return total;
}

}  // namespace

Cost rounds_bound(const CostModel& model, const CostMatrix& costs) {
  const std::size_t group = regular_group(model);
  if (group == 0) return separate_bound(model, costs);
  if (costs.is_proportional()) return joint_bound(model, costs, group);
  return std::max(separate_bound(model, costs), joint_bound(model, costs, group));
}

}  // namespace espalier
