#include "alg/rank_order/order_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "alg/rank_order/cost_formula.h"

namespace espalier {

namespace {

// Nodes or ranks, connected by pairs that are added one after the other.
class Parts {
 public:
  explicit Parts(std::size_t nodes) : near(nodes, 0), parent_(nodes), count_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  void connect(std::size_t a, std::size_t b) {
    ++near[a];
    ++near[b];
    if (part_of(a) == part_of(b)) return;
    parent_[part_of(a)] = part_of(b);
    --count_;
  }
  [[nodiscard]] bool is_one() const { return count_ == 1; }
  // The sum over the nodes of each part; 0 for a node that does not stand for a part.
  template <class Value>
  [[nodiscard]] std::vector<Cost> sums(Value&& value) {
    std::vector<Cost> sums(near.size(), 0);
    for (std::size_t n = 0; n < near.size(); ++n) sums[part_of(n)] += value(n);
    return sums;
  }
  [[nodiscard]] bool stands_for_part(std::size_t n) const { return parent_[n] == n; }

  std::vector<std::size_t> near;  // by node: number of its pairs

 private:
  std::size_t part_of(std::size_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }

  std::vector<std::size_t> parent_;
  std::size_t count_;
};

// The weight of messages, or of a ring's slowest message, that take longer than a latency.
class MessageNeeds {
 public:
  MessageNeeds(const CostModel& model, const CostMatrix& costs) : beyond_(model.ranks, 0) {
    if (model.objective == OrderObjective::max) {
      slowest_ = costs.weight_of(model.rounds.front().bytes);
    }
    std::vector<std::map<std::uint32_t, Cost>> partners(model.ranks);
    Parts ranks(model.ranks);
    for_each_message(model, [&](const RankPair& pair, Bytes bytes) {
      partners[pair.a][pair.b] += costs.weight_of(bytes);
      partners[pair.b][pair.a] += costs.weight_of(bytes);
      ranks.connect(pair.a, pair.b);
    });
    bool first = true;
    for (const auto& of_rank : partners) {
      std::vector<Cost> weights(model.ranks, 0);  // descending: the heaviest partners are near
      std::transform(of_rank.begin(), of_rank.end(), weights.begin(),
                     [](const auto& partner) { return partner.second; });
      std::sort(weights.begin(), weights.end(), std::greater<>());
      if (!of_rank.empty()) {
        const Cost lightest = weights[of_rank.size() - 1];
        lightest_ = lightest_ == 0 ? lightest : std::min(lightest_, lightest);
      }
      for (std::size_t near = weights.size(); near-- > 1;) weights[near - 1] += weights[near];
      for (std::size_t near = 0; near < weights.size(); ++near) {
        beyond_[near] = first ? weights[near] : std::min(beyond_[near], weights[near]);
      }
      first = false;
    }
    const Cost cut = model.is_ring && model.ranks > 2 ? 2 : 1;  // messages that leave any part
    leaving_ = ranks.is_one() ? cut * lightest_ : 0;
  }

  Cost operator()(Parts& parts) const {
    const auto needs = parts.sums([&](std::size_t n) { return beyond_[parts.near[n]]; });
    Cost ends = 0;  // every message has two
    for (std::size_t n = 0; n < needs.size(); ++n) {
      if (!parts.stands_for_part(n)) continue;
      ends += parts.is_one() ? needs[n] : std::max(needs[n], leaving_);
    }
    return slowest_ == 0 ? (ends + 1) / 2 : ends == 0 ? 0 : slowest_;
  }

 private:
  Cost slowest_ = 0;          // objective max: weight of any message
  std::vector<Cost> beyond_;  // by number of near nodes: least weight of a rank's other partners
  Cost lightest_ = 0;         // of two partners
  Cost leaving_ = 0;          // weight that leaves any part
};

// The weight of rounds that take longer than a latency.
class RoundNeeds {
 public:
  RoundNeeds(const CostModel& model, const CostMatrix& costs) {
    std::vector<std::vector<std::uint32_t>> partners(model.ranks);
    std::size_t cube = 1;
    for (const CostRound& round : model.rounds) {
      std::vector<std::size_t> degree(model.ranks, 0);
      for (const RankPair& pair : round.pairs) {
        if (pair.a == pair.b) continue;  // in the printed formulas
        ++degree[pair.a];
        ++degree[pair.b];
        partners[pair.a].push_back(pair.b);
        partners[pair.b].push_back(pair.a);
      }
      const auto idle = std::count(degree.begin(), degree.end(), std::size_t{0});
      rounds_.push_back(
          {costs.weight_of(round.bytes), degree.size() - static_cast<std::size_t>(idle)});
      cube *= model.base;
      is_cube_ = is_cube_ && std::all_of(degree.begin(), degree.end(),
                                         [&](std::size_t d) { return d == model.base - 1; });
    }
    for (auto& of_rank : partners) {
      std::sort(of_rank.begin(), of_rank.end());
      const bool twice = std::adjacent_find(of_rank.begin(), of_rank.end()) != of_rank.end();
      is_cube_ = is_cube_ && !twice;
    }
    is_cube_ = is_cube_ && cube == model.ranks;
    base_ = model.base;
    std::sort(rounds_.begin(), rounds_.end());
  }

  Cost operator()(Parts& parts) const {
    const std::size_t within = is_cube_ ? rounds_within(parts) : 0;
    const auto placeable = parts.near.size() - static_cast<std::size_t>(std::count(
                                                   parts.near.begin(), parts.near.end(), 0));
    Cost weight = 0;
    for (std::size_t r = 0; r + within < rounds_.size(); ++r) {
      if (is_cube_ || rounds_[r].ranks > placeable) weight += rounds_[r].weight;
    }
    return weight;
  }

 private:
  struct Round {
    Cost weight = 0;
    std::size_t ranks = 0;
    friend bool operator<(const Round& a, const Round& b) { return a.weight < b.weight; }
  };

  // Any k rounds of a cube give every rank k (base - 1) partners and connect base^k ranks.
  [[nodiscard]] std::size_t rounds_within(Parts& parts) const {
    const std::size_t least = *std::min_element(parts.near.begin(), parts.near.end());
    if (least < base_ - 1) return 0;
    const auto sizes = parts.sums([](std::size_t) { return Cost{1}; });
    std::size_t rounds = 0;
    for (std::size_t size = base_; rounds < rounds_.size(); size *= base_) {
      const bool fits =
          least >= (rounds + 1) * (base_ - 1) &&
          std::all_of(sizes.begin(), sizes.end(), [&](Cost s) { return s % size == 0; });
      if (!fits) break;
      ++rounds;
    }
    return rounds;
  }

  std::vector<Round> rounds_;  // the lightest first
  std::size_t base_ = 2;
  bool is_cube_ = true;
};

// The weight of hops of a tree's most expensive path: all where no node is near another one, one
// where the nodes are not yet connected.
class PathNeeds {
 public:
  PathNeeds(const CostModel& model, const CostMatrix& costs)
      : weight_(costs.weight_of(model.trees.front().bytes)) {
    std::vector<Cost> of_vertex;
    Parts ranks(model.ranks);
    hops_ = cost_of_tree(
        model.trees.front(),
        [&](const RankPair& pair, Bytes) {
          ranks.connect(pair.a, pair.b);
          return Cost{1};
        },
        of_vertex);
    connects_ = ranks.is_one();
  }
  Cost operator()(Parts& parts) const {
    const bool none =
        std::all_of(parts.near.begin(), parts.near.end(), [](std::size_t n) { return n == 0; });
    return none ? hops_ * weight_ : connects_ && !parts.is_one() ? weight_ : 0;
  }

 private:
  Cost weight_;
  Cost hops_ = 0;
  bool connects_ = false;
};

template <class Needs>
Cost sum_over_latencies(const CostMatrix& costs, const Needs& needs) {
  struct Pair {
    std::uint64_t latency;
    std::size_t a;
    std::size_t b;
  };
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < costs.nodes(); ++a) {
    for (std::size_t b = 0; b < a; ++b) pairs.push_back({costs.latency(a, b), a, b});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& x, const Pair& y) { return x.latency < y.latency; });
  Parts parts(costs.nodes());
  Cost total = 0;
  std::uint64_t reached = 0;
  for (const Pair& pair : pairs) {
    if (pair.latency > reached) {
      const Cost longer = needs(parts);
      if (longer == 0) break;
      total += (pair.latency - reached) * longer;
      reached = pair.latency;
    }
    parts.connect(pair.a, pair.b);
  }
  return total;
}

}  // namespace

Cost order_bound(const CostModel& model, const CostMatrix& costs) {
  if (model.is_ring || model.objective == OrderObjective::load) {
    return sum_over_latencies(costs, MessageNeeds(model, costs));
  }
  if (model.has_trees()) return sum_over_latencies(costs, PathNeeds(model, costs));
  return sum_over_latencies(costs, RoundNeeds(model, costs));
}

}  // namespace espalier
