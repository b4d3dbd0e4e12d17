#include "sims/workload/coordination/control_pattern.h"

#include <algorithm>

namespace espalier {

namespace {

using Rounds = std::vector<std::vector<PatternMessage>>;

PatternMessage message(std::size_t from, std::size_t to) { return {RankId(from), RankId(to)}; }

Rounds turned_round(Rounds rounds) {
  std::reverse(rounds.begin(), rounds.end());
  for (auto& round : rounds) {
    for (PatternMessage& m : round) std::swap(m.from, m.to);
  }
  return rounds;
}

// Children to parents, level by level, the deepest first.
Rounds tree_levels(std::size_t ranks, std::uint32_t arity) {
  Rounds rounds;
  std::size_t first = 1;  // first rank of the level
  std::size_t width = arity;
  while (first < ranks) {
    rounds.emplace_back();
    const std::size_t end = std::min(ranks, first + width);
    for (std::size_t r = first; r < end; ++r) {
      rounds.back().push_back(message(r, (r - 1) / arity));
    }
    first += width;
    width *= arity;
  }
  std::reverse(rounds.begin(), rounds.end());
  return rounds;
}

}  // namespace

ControlPattern binomial_gather(std::size_t ranks) {
  ControlPattern pattern;
  for (std::size_t half = 1; half < ranks; half *= 2) {
    pattern.rounds.emplace_back();
    for (std::size_t r = half; r < ranks; r += 2 * half) {
      pattern.rounds.back().push_back(message(r, r - half));
    }
  }
  return pattern;
}

ControlPattern binomial_broadcast(std::size_t ranks) {
  return {turned_round(binomial_gather(ranks).rounds)};
}

ControlPattern recursive_doubling(std::size_t ranks) {
  std::size_t power = 1;
  while (power * 2 <= ranks) power *= 2;
  const std::size_t beyond = ranks - power;
  // In each of the first `beyond` pairs of ranks, the even rank does not take part in the doubling.
  const auto rank_of = [&](std::size_t place) {
    return place < beyond ? 2 * place + 1 : place + beyond;
  };
  Rounds before;
  if (beyond != 0) before.emplace_back();
  for (std::size_t pair = 0; pair < beyond; ++pair) {
    before.back().push_back(message(2 * pair, 2 * pair + 1));
  }
  ControlPattern pattern{before};
  for (std::size_t distance = 1; distance < power; distance *= 2) {
    pattern.rounds.emplace_back();
    for (std::size_t place = 0; place < power; ++place) {
      pattern.rounds.back().push_back(message(rank_of(place), rank_of(place ^ distance)));
    }
  }
  for (auto& round : turned_round(before)) pattern.rounds.push_back(std::move(round));
  return pattern;
}

ControlPattern tree_gather(std::size_t ranks, std::uint32_t arity) {
  return {tree_levels(ranks, arity)};
}

ControlPattern tree_broadcast(std::size_t ranks, std::uint32_t arity) {
  return {turned_round(tree_levels(ranks, arity))};
}

std::uint32_t tree_children(std::size_t ranks, std::uint32_t arity, RankId rank) {
  const std::size_t first = rank.index() * arity + 1;
  return first >= ranks ? 0
                        : static_cast<std::uint32_t>(std::min<std::size_t>(arity, ranks - first));
}

std::vector<std::vector<PatternStep>> steps_by_rank(const ControlPattern& pattern,
                                                    std::size_t ranks) {
  std::vector<std::vector<PatternStep>> steps(ranks);
  for (const auto& round : pattern.rounds) {
    for (const PatternMessage& m : round) steps[m.from.index()].push_back({m.to, true});
    for (const PatternMessage& m : round) steps[m.to.index()].push_back({m.from, false});
  }
  return steps;
}

}  // namespace espalier
