#include "alg/rank_order/order_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/cost_formula.h"
#include "alg/rank_order/tree_models.h"

namespace espalier {

namespace {

constexpr std::size_t kFewestRanks = 2;

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

RankPair pair_of(std::size_t a, std::size_t b) {
  return {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
}

// A generator's hop carries a chunk; the paper's formula all of the data.
void add_ring(const CostModelRequest& request, CostModel& model) {
  model.is_ring = true;
  const bool whole = request.form != OrderForm::generated;
  const Bytes bytes = whole ? request.size : request.size / request.ranks;
  for (std::size_t r = 0; r < request.ranks; ++r) {
    model.rounds.push_back({bytes, {pair_of(r, (r + 1) % request.ranks)}});
  }
}

std::vector<std::vector<std::uint32_t>> places_of_one_rank(std::size_t ranks) {
  std::vector<std::vector<std::uint32_t>> places;
  for (std::uint32_t r = 0; r < ranks; ++r) places.push_back({r});
  return places;
}

// Of a folded pair the odd rank is a member.
std::vector<std::vector<std::uint32_t>> folded_places(std::size_t ranks) {
  std::size_t members = 1;
  while (2 * members <= ranks) members *= 2;
  const std::size_t folded = ranks - members;
  std::vector<std::vector<std::uint32_t>> places;
  for (std::uint32_t m = 0; m < members; ++m) {
    if (m < folded) {
      places.push_back({2 * m, 2 * m + 1});
    } else {
      places.push_back({m + static_cast<std::uint32_t>(folded)});
    }
  }
  return places;
}

void add_halving_doubling(const CostModelRequest& request, CostModel& model) {
  model.places = folded_places(request.ranks);
  const std::size_t members = model.places.size();
  if (request.ranks != members) {
    CostRound fold{request.size, {}};
    for (const auto& place : model.places) {
      if (place.size() == 2) fold.pairs.push_back(pair_of(place.front(), place.back()));
    }
    model.rounds.push_back(std::move(fold));
  }
  // The generator halves the distance with the data, the paper doubles it.
  const bool generated = request.form == OrderForm::generated;
  for (std::size_t distance = 1, share = 2; distance < members; distance *= 2, share *= 2) {
    CostRound round{request.size / (generated ? members / distance : share), {}};
    for (std::size_t m = 0; m < members; ++m) {
      if ((m & distance) != 0) continue;
      round.pairs.push_back(pair_of(model.places[m].back(), model.places[m ^ distance].back()));
    }
    model.rounds.push_back(std::move(round));
  }
}

// j and j + 2^i of the lower half of the ranks, whatever their bits.
void add_printed_halving_doubling(const CostModelRequest& request, CostModel& model) {
  for (std::size_t distance = 1, share = 2; distance < request.ranks; distance *= 2, share *= 2) {
    CostRound round{request.size / share, {}};
    for (std::size_t j = 0; j < request.ranks / 2; ++j) {
      round.pairs.push_back(pair_of(j, (j + distance) % request.ranks));
    }
    model.rounds.push_back(std::move(round));
  }
}

void add_bcube(const CostModelRequest& request, CostModel& model) {
  const std::size_t base = request.base;
  const bool generated = request.form == OrderForm::generated;
  Bytes share = base;
  for (std::size_t distance = 1; distance < request.ranks; distance *= base, share *= base) {
    const Bytes parts = generated ? request.ranks / distance : share;
    CostRound round{request.size / parts, {}};
    for (std::size_t j = 0; j < request.ranks; ++j) {
      // Each pair once, from its lower digit.
      for (std::size_t k = 1; j / distance % base + k < base; ++k) {
        round.pairs.push_back(pair_of(j, j + k * distance));
      }
    }
    model.rounds.push_back(std::move(round));
  }
}

// k runs to B, and j + k B^i leaves the digit's group; a rank's cost with itself is none.
void add_printed_bcube(const CostModelRequest& request, CostModel& model) {
  const std::size_t base = request.base;
  Bytes share = base;
  for (std::size_t distance = 1; distance < request.ranks; distance *= base, share *= base) {
    CostRound round{request.size / share, {}};
    for (std::size_t j = 0; j < request.ranks / base; ++j) {
      for (std::size_t k = 1; k <= base; ++k) {
        const std::size_t peer = (j + k * distance) % request.ranks;
        if (peer != j) round.pairs.push_back(pair_of(j, peer));
      }
    }
    model.rounds.push_back(std::move(round));
  }
}

void add_trees(const CostModelRequest& request, CostModel& model) {
  const Bytes half = request.size / 2;
  switch (request.form) {
    case OrderForm::generated:
      for (const RankTree& tree : make_double_tree(request.ranks)) {
        model.trees.push_back(model_of_tree(tree, half));
      }
      break;
    case OrderForm::corrected:
      model.trees = midpoint_trees(request.ranks, half);
      break;
    case OrderForm::as_printed:
      model.trees = printed_trees(request.ranks, half);
      break;
  }
}

}  // namespace

Bytes CostModel::largest() const {
  Bytes most = 0;
  for (const CostRound& round : rounds) most = std::max(most, round.bytes);
  for (const TreeModel& tree : trees) most = std::max(most, tree.bytes);
  return most;
}

std::size_t CostModel::num_messages() const {
  std::size_t messages = 0;
  for_each_message(*this, [&](const RankPair& /*pair*/, Bytes /*bytes*/) { ++messages; });
  return messages;
}

std::string unsuited_for_model(const CostModelRequest& request) {
  if (request.ranks < kFewestRanks) return "An order needs at least two ranks.";
  if (request.objective == OrderObjective::max && request.model != OrderModel::ring) {
    return "reorder.objective max is that of a ring: the slowest of its hops governs all steps.";
  }
  if (request.model == OrderModel::bcube) return unsuited_for_bcube(request.ranks, request.base);
  const bool printed = request.form == OrderForm::as_printed;
  if (printed && request.model == OrderModel::halving_doubling && !is_power_of_two(request.ranks)) {
    return fmt::format("As printed halving_doubling has a power of two of ranks; {} is none.",
                       request.ranks);
  }
  return {};
}

CostModel make_cost_model(const CostModelRequest& request) {
  CostModel model;
  model.ranks = request.ranks;
  model.objective = request.objective;
  model.places = places_of_one_rank(request.ranks);
  if (request.model == OrderModel::bcube) model.base = request.base;
  const bool printed = request.form == OrderForm::as_printed;
  switch (request.model) {
    case OrderModel::ring:
      add_ring(request, model);
      break;
    case OrderModel::halving_doubling:
      printed ? add_printed_halving_doubling(request, model) : add_halving_doubling(request, model);
      break;
    case OrderModel::dbtree:
      add_trees(request, model);
      break;
    case OrderModel::bcube:
      printed ? add_printed_bcube(request, model) : add_bcube(request, model);
      break;
  }
  return model;
}

Cost full_cost(const CostModel& model, const CostMatrix& costs, const RankOrder& order) {
  std::vector<Cost> of_vertex;
  return cost_by(
      model,
      [&](const RankPair& pair, Bytes bytes) {
        return costs.cost(order[pair.a], order[pair.b], bytes);
      },
      of_vertex);
}

}  // namespace espalier
