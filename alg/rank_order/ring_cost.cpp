#include "alg/rank_order/ring_cost.h"

#include <algorithm>

namespace espalier {

RingCost::RingCost(const CostModel& model, const CostMatrix& costs)
    : OrderCost(model),
      costs_(costs),
      bytes_(model.rounds.front().bytes),
      is_max_(model.objective == OrderObjective::max) {}

double RingCost::guide_of(Cost sum, Cost max) const {
  if (!is_max_) return static_cast<double>(sum);
  return static_cast<double>(max) +
         kGuideShare * static_cast<double>(sum) / static_cast<double>(order_.size());
}

void RingCost::reset(const RankOrder& order) {
  place_all(order);
  hops_.resize(order.size());
  sum_ = 0;
  for (std::size_t r = 0; r < order.size(); ++r) {
    hops_[r] = between(r, next(r));
    sum_ += hops_[r];
  }
  find_max();
}

void RingCost::find_max() { max_ = *std::max_element(hops_.begin(), hops_.end()); }

void RingCost::set_hop(std::size_t rank) {
  const Cost cost = between(rank, next(rank));
  sum_ += cost;
  sum_ -= hops_[rank];
  hops_[rank] = cost;
}

void RingCost::change(const std::vector<RankChange>& changes) {
  place(changes);
  for (const RankChange& c : changes) {
    set_hop(previous(c.rank));
    set_hop(c.rank);
  }
  if (is_max_) find_max();
}

double RingCost::guide_with(const std::vector<std::size_t>& removed,
                            const std::vector<Cost>& added) const {
  Cost sum = sum_;
  Cost max = max_;
  bool loses_max = false;
  for (const std::size_t rank : removed) {
    sum -= hops_[rank];
    loses_max = loses_max || hops_[rank] == max_;
  }
  if (is_max_ && loses_max) {
    max = 0;
    for (std::size_t r = 0; r < hops_.size(); ++r) {
      const bool gone = std::find(removed.begin(), removed.end(), r) != removed.end();
      if (!gone) max = std::max(max, hops_[r]);
    }
  }
  for (const Cost cost : added) {
    sum += cost;
    max = std::max(max, cost);
  }
  return guide_of(sum, max);
}

double RingCost::guide_of_reversal(std::size_t first, std::size_t last) const {
  const std::size_t before = previous(first);
  const std::size_t after = next(last);
  if (before == last || after == before) return guide();  // the same ring, reversed
  return guide_with({before, last}, {between(before, last), between(first, after)});
}

void RingCost::reverse(std::size_t first, std::size_t last) {
  std::vector<RankChange> changes;
  for (std::size_t r = first; r <= last; ++r) {
    changes.push_back({static_cast<std::uint32_t>(r), order_[first + last - r]});
  }
  change(changes);
}

double RingCost::guide_of_shift(std::size_t first, std::size_t last, std::size_t behind) const {
  const std::size_t before = previous(first);
  const std::size_t after = next(last);
  if (behind == before) return guide();
  return guide_with({before, last, behind},
                    {between(before, after), between(behind, first), between(last, next(behind))});
}

void RingCost::shift(std::size_t first, std::size_t last, std::size_t behind) {
  RankOrder moved;
  // The ranks that the segment passes move to its other side.
  const std::size_t begin = behind > last ? first : behind + 1;
  const auto node = [&](std::size_t r) { return order_[r]; };
  if (behind > last) {
    for (std::size_t r = last + 1; r <= behind; ++r) moved.push_back(node(r));
    for (std::size_t r = first; r <= last; ++r) moved.push_back(node(r));
  } else {
    for (std::size_t r = first; r <= last; ++r) moved.push_back(node(r));
    for (std::size_t r = behind + 1; r < first; ++r) moved.push_back(node(r));
  }
  std::vector<RankChange> changes;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    changes.push_back({static_cast<std::uint32_t>(begin + i), moved[i]});
  }
  change(changes);
}

}  // namespace espalier
