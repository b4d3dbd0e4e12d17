#include "alg/rank_order/rounds_cost.h"

#include <algorithm>

namespace espalier {

RoundsCost::RoundsCost(const CostModel& model, const CostMatrix& costs)
    : OrderCost(model),
      costs_(costs),
      is_load_(model.objective == OrderObjective::load),
      of_(model.ranks) {
  for (const CostRound& round : model.rounds) {
    const std::size_t begin = pairs_.size();
    for (const RankPair& ranks : round.pairs) {
      const auto id = static_cast<std::uint32_t>(pairs_.size());
      of_[ranks.a].push_back(id);
      of_[ranks.b].push_back(id);
      pairs_.push_back({ranks, static_cast<std::uint32_t>(rounds_.size())});
    }
    rounds_.push_back({round.bytes, begin, pairs_.size()});
  }
  lost_max_.resize(rounds_.size());
}

void RoundsCost::reset(const RankOrder& order) {
  order_ = order;
  pair_costs_.resize(pairs_.size());
  for (std::size_t p = 0; p < pairs_.size(); ++p) pair_costs_[p] = cost_of(pairs_[p]);
  for (Round& round : rounds_) {
    round.max = 0;
    round.sum = 0;
    for (std::size_t p = round.begin; p < round.end; ++p) {
      round.max = std::max(round.max, pair_costs_[p]);
      round.sum += pair_costs_[p];
    }
  }
  old_nodes_.clear();
  old_pairs_.clear();
  old_rounds_ = rounds_;
}

// Twice of a pair both of whose ranks change; the second time nothing happens any more.
void RoundsCost::set_pair(std::uint32_t pair) {
  const Cost before = pair_costs_[pair];
  const Cost now = cost_of(pairs_[pair]);
  if (now == before) return;
  const std::uint32_t r = pairs_[pair].round;
  Round& round = rounds_[r];
  old_pairs_.push_back({pair, before});
  pair_costs_[pair] = now;
  round.sum += now;
  round.sum -= before;
  if (before == round.max && now < before) lost_max_[r] = true;
  if (now >= round.max) {
    round.max = now;
    lost_max_[r] = false;
  }
}

void RoundsCost::change(const std::vector<RankChange>& changes) {
  old_nodes_.clear();
  old_pairs_.clear();
  old_rounds_ = rounds_;
  for (const RankChange& c : changes) {
    old_nodes_.push_back({c.rank, order_[c.rank]});
    order_[c.rank] = c.node;
  }
  for (const RankChange& c : changes) {
    for (const std::uint32_t pair : of_[c.rank]) set_pair(pair);
  }
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    if (!lost_max_[r]) continue;
    lost_max_[r] = false;
    const auto first = pair_costs_.begin() + static_cast<std::ptrdiff_t>(rounds_[r].begin);
    const auto last = pair_costs_.begin() + static_cast<std::ptrdiff_t>(rounds_[r].end);
    rounds_[r].max = *std::max_element(first, last);
  }
}

void RoundsCost::undo() {
  for (const RankChange& c : old_nodes_) order_[c.rank] = c.node;
  for (auto old = old_pairs_.rbegin(); old != old_pairs_.rend(); ++old) {
    pair_costs_[old->pair] = old->cost;
  }
  rounds_ = old_rounds_;
  old_nodes_.clear();
  old_pairs_.clear();
}

Cost RoundsCost::cost() const {
  Cost total = 0;
  for (const Round& round : rounds_) total += is_load_ ? round.sum : round.max;
  return total;
}

double RoundsCost::guide() const {
  if (is_load_) return static_cast<double>(cost());
  double means = 0;
  for (const Round& round : rounds_) {
    means += static_cast<double>(round.sum) / static_cast<double>(round.end - round.begin);
  }
  return static_cast<double>(cost()) + kGuideShare * means;
}

}  // namespace espalier
