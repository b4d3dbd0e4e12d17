// The cost models against the published model, written down once more and independently.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/order_cost.h"
#include "alg/rank_order/order_model.h"
#include "alg/rank_order/ring_cost.h"
#include "rank_order_cases.h"

using namespace espalier;

namespace {

constexpr Bytes kModelBytes = 4096;
constexpr Bytes kModelWindow = 1024;

CostMatrix random_costs(std::size_t nodes, std::uint64_t seed) {
  return CostMatrix(nodes, test::random_latencies(nodes, seed), kModelWindow, kModelBytes);
}

CostModelRequest request_of(OrderModel model, OrderForm form, std::size_t ranks,
                            std::uint32_t base = 4) {
  CostModelRequest request;
  request.model = model;
  request.form = form;
  request.ranks = ranks;
  request.size = kModelBytes;
  request.base = base;
  return request;
}

using Pairwise = std::function<Cost(std::size_t, std::size_t, Bytes)>;  // of ranks

// T(i, j, S) of the double binary tree.
Cost tree_cost(std::int64_t i, std::int64_t j, const Pairwise& c) {
  if (i >= j) return 0;
  const std::int64_t m = (i + j) / 2;
  Cost most = 0;
  const auto side = [&](std::int64_t begin, std::int64_t end, std::int64_t child) {
    if (begin > end) return;
    const Cost hop =
        c(static_cast<std::size_t>(m), static_cast<std::size_t>(child), kModelBytes / 2);
    most = std::max(most, hop + tree_cost(begin, end, c));
  };
  side(i, m - 1, (i + m - 1) / 2);
  side(m + 1, j, (m + 1 + j) / 2);
  return most;
}

Cost by_the_text(OrderModel model, OrderObjective objective, std::size_t n, std::size_t base,
                 const Pairwise& c) {
  Cost total = 0;
  switch (model) {
    case OrderModel::ring:
      for (std::size_t i = 0; i < n; ++i) {
        const Cost hop = c(i, (i + 1) % n, kModelBytes);
        total = objective == OrderObjective::max ? std::max(total, hop) : total + hop;
      }
      return total;
    case OrderModel::halving_doubling:
      for (std::size_t i = 0; std::size_t{1} << i < n; ++i) {
        Cost most = 0;
        for (std::size_t j = 0; j < n; ++j) {
          most = std::max(most, c(j, j ^ std::size_t{1} << i, kModelBytes >> (i + 1)));
        }
        total += most;
      }
      return total;
    case OrderModel::dbtree: {
      const Pairwise decremented = [&](std::size_t a, std::size_t b, Bytes s) {
        return c((a + n - 1) % n, (b + n - 1) % n, s);
      };
      const auto last = static_cast<std::int64_t>(n) - 1;
      return std::max(tree_cost(0, last, c), tree_cost(0, last, decremented));
    }
    case OrderModel::bcube:
      for (std::size_t power = 1; power < n; power *= base) {
        Cost most = 0;
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t digit = 0; digit < base; ++digit) {
            const std::size_t other = j - j / power % base * power + digit * power;
            if (other != j) most = std::max(most, c(j, other, kModelBytes / (power * base)));
          }
        }
        total += most;
      }
      return total;
  }
  return total;
}

void check_against_text(OrderModel model, std::size_t n, std::uint32_t base,
                        OrderObjective objective = OrderObjective::sum) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(static_cast<int>(model), n, base, seed);
    const CostMatrix costs = random_costs(n, seed);
    const RankOrder order = random_permutation(n, seed);
    const Pairwise c = [&](std::size_t a, std::size_t b, Bytes s) {
      return costs.cost(order[a], order[b], s);
    };
    CostModelRequest request = request_of(model, OrderForm::corrected, n, base);
    request.objective = objective;
    CHECK(full_cost(make_cost_model(request), costs, order) ==
          by_the_text(model, objective, n, base, c));
  }
}

}  // namespace

TEST_CASE("The cost of a pair is that of its slower direction and grows with the bytes") {
  const CostMatrix costs(2, {0, 7, 9, 0}, 10, 1000);
  CHECK(costs.cost(0, 1, 0) == 90);
  CHECK(costs.cost(1, 0, 100) == 9 * (10 + 100));
  CHECK(costs.in_units(390) == 39.0);
}

TEST_CASE("Costs that 64 bits cannot hold are refused") {
  const std::uint64_t huge = std::uint64_t{1} << 50;
  CHECK_THROWS(CostMatrix(2, {0, huge, huge, 0}, 1024, 1 << 20));
  CHECK_THROWS(CostMatrix(2, {0, 1, 1}, 1024, 1));
}

TEST_CASE("The corrected ring model is the published one") {
  for (const std::size_t n : {2U, 3U, 7U, 16U}) {
    check_against_text(OrderModel::ring, n, 4);
    check_against_text(OrderModel::ring, n, 4, OrderObjective::max);
  }
}

TEST_CASE("The load of an order is the cost of all its messages") {
  const CostMatrix costs = random_costs(8, 5);
  const RankOrder order = random_permutation(8, 5);
  const auto load = [&](OrderModel model) {
    CostModelRequest request = request_of(model, OrderForm::corrected, 8, 2);
    request.objective = OrderObjective::load;
    return full_cost(make_cost_model(request), costs, order);
  };
  const auto c = [&](std::size_t a, std::size_t b, Bytes s) {
    return costs.cost(order[a], order[b], s);
  };
  Cost halving = 0;
  Cost ring = 0;
  for (std::size_t j = 0; j < 8; ++j) {
    ring += c(j, (j + 1) % 8, kModelBytes);
    for (std::size_t i = 0; i < 3; ++i) {
      if ((j >> i & 1) == 0) halving += c(j, j ^ std::size_t{1} << i, kModelBytes >> (i + 1));
    }
  }
  CHECK(load(OrderModel::ring) == ring);
  CHECK(load(OrderModel::halving_doubling) == halving);
  CHECK(load(OrderModel::bcube) == halving);
  // Midpoint trees: 3 over 1 and 5, 1 over 0 and 2, 5 over 4 and 6, 6 over 7; and one rank less.
  Cost trees = 0;
  for (const std::size_t less : {0U, 1U}) {
    for (const auto& [a, b] : std::vector<std::pair<std::size_t, std::size_t>>{
             {3, 1}, {3, 5}, {1, 0}, {1, 2}, {5, 4}, {5, 6}, {6, 7}}) {
      trees += c((a + 8 - less) % 8, (b + 8 - less) % 8, kModelBytes / 2);
    }
  }
  CHECK(load(OrderModel::dbtree) == trees);
}

TEST_CASE("Only a ring is governed by its slowest hop alone") {
  CostModelRequest request = request_of(OrderModel::dbtree, OrderForm::corrected, 8, 2);
  request.objective = OrderObjective::max;
  CHECK(unsuited_for_model(request).find("objective max works only with the model ring") !=
        std::string::npos);
  request.model = OrderModel::ring;
  CHECK(unsuited_for_model(request).empty());
}

TEST_CASE("The corrected halving-doubling model is the published one") {
  for (const std::size_t n : {2U, 8U, 32U}) check_against_text(OrderModel::halving_doubling, n, 4);
}
TEST_CASE("The corrected tree model is the published one") {
  for (const std::size_t n : {2U, 3U, 8U, 13U, 32U}) check_against_text(OrderModel::dbtree, n, 4);
}
TEST_CASE("The corrected BCube model is the published one") {
  check_against_text(OrderModel::bcube, 8, 2);
  check_against_text(OrderModel::bcube, 16, 4);
  check_against_text(OrderModel::bcube, 27, 3);
  check_against_text(OrderModel::bcube, 5, 5);
}

TEST_CASE("As printed, round 0 of halving-doubling over 8 ranks pairs ranks 0 to 3 with the next") {
  const CostModel printed =
      make_cost_model(request_of(OrderModel::halving_doubling, OrderForm::as_printed, 8));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const RankPair& pair : printed.rounds.front().pairs) pairs.emplace_back(pair.a, pair.b);
  CHECK(pairs ==
        std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {1, 2}, {2, 3}, {3, 4}});
}

TEST_CASE("As printed, BCube's k runs to the base and leaves the digit's group") {
  const CostModel printed =
      make_cost_model(request_of(OrderModel::bcube, OrderForm::as_printed, 16));
  const auto& pairs = printed.rounds.front().pairs;
  CHECK(pairs.size() == 16);
  CHECK(pairs[3].b == 4);  // rank 0, k = 4: another group
}

TEST_CASE("As printed, the tree's children are not the roots of their sides") {
  const CostModel printed =
      make_cost_model(request_of(OrderModel::dbtree, OrderForm::as_printed, 8));
  // 0..7 has root 3; printed children (0 + 7) / 2 - 1 = 2 and (0 + 21) / 2 + 1 = 11, which is 3.
  const auto& root = printed.trees.front().vertices.back();
  REQUIRE(root.size() == 2);
  CHECK(root[0].pair.a == 3);
  CHECK(root[0].pair.b == 2);
  CHECK(root[1].pair.b == 3);
}

TEST_CASE("The generated tree model prices the trees that the generator builds") {
  for (const std::size_t n : {2U, 5U, 8U, 16U, 21U}) {
    const CostMatrix costs = random_costs(n, n);
    const RankOrder order = random_permutation(n, n);
    Cost most = 0;
    for (const RankTree& tree : make_double_tree(n)) {
      for (std::size_t r = 0; r < n; ++r) {
        Cost way = 0;
        for (std::size_t at = r; at != tree.root; at = tree.parent[at]) {
          way += costs.cost(order[at], order[tree.parent[at]], kModelBytes / 2);
        }
        most = std::max(most, way);
      }
    }
    CAPTURE(n);
    CHECK(full_cost(make_cost_model(request_of(OrderModel::dbtree, OrderForm::generated, n)), costs,
                    order) == most);
  }
}

TEST_CASE("Generated halving-doubling sends half of the data over the largest distance") {
  const CostModel model =
      make_cost_model(request_of(OrderModel::halving_doubling, OrderForm::generated, 8));
  REQUIRE(model.rounds.size() == 3);
  CHECK(model.rounds[2].bytes == kModelBytes / 2);
  CHECK(model.rounds[0].bytes == kModelBytes / 8);
}

TEST_CASE("Ranks beyond a power of two are folded in a round of their own with all data") {
  const CostModel model =
      make_cost_model(request_of(OrderModel::halving_doubling, OrderForm::generated, 6));
  REQUIRE(model.rounds.size() == 3);
  CHECK(model.rounds[0].bytes == kModelBytes);
  REQUIRE(model.rounds[0].pairs.size() == 2);
  CHECK(model.rounds[0].pairs[1].a == 2);
  CHECK(model.rounds[0].pairs[1].b == 3);
  CHECK(unsuited_for_model(request_of(OrderModel::halving_doubling, OrderForm::as_printed, 6)) !=
        "");
  CHECK(unsuited_for_model(request_of(OrderModel::bcube, OrderForm::corrected, 12)) ==
        "bcube needs a number of nodes that is a power of its base; 12 nodes are not a power of 4");
}

namespace {

std::vector<RankChange> random_changes(const RankOrder& order, RandomSource& random) {
  const auto ranks = static_cast<std::uint32_t>(order.size());
  const std::uint32_t length = 1 + random.below(ranks);
  const std::uint32_t begin = random.below(ranks - length + 1);
  std::vector<RankChange> changes;
  for (std::uint32_t i = 0; i < length; ++i) changes.push_back({begin + i, order[begin + i]});
  for (std::uint32_t left = length; left > 1; --left) {
    std::swap(changes[left - 1].node, changes[random.below(left)].node);
  }
  return changes;
}

void check_changes(const CostModel& model, const CostMatrix& costs, std::uint64_t seed) {
  RandomSource random(seed);
  const auto cost = make_order_cost(model, costs);
  cost->reset(random_permutation(model.ranks, seed));
  for (int move = 0; move < 300; ++move) {
    const RankOrder before = cost->order();
    const double guide_before = cost->guide();
    cost->change(random_changes(before, random));
    REQUIRE(cost->cost() == full_cost(model, costs, cost->order()));
    if (random.below(2) == 0) continue;
    cost->undo();
    REQUIRE(cost->order() == before);
    REQUIRE(cost->cost() == full_cost(model, costs, before));
    REQUIRE(cost->guide() == guide_before);
  }
  const auto anew = make_order_cost(model, costs);
  anew->reset(cost->order());
  CHECK(anew->guide() == cost->guide());
}

}  // namespace

TEST_CASE("The cost after a change equals that of the changed order") {
  for (const OrderForm form : {OrderForm::generated, OrderForm::corrected, OrderForm::as_printed}) {
    for (const OrderModel model :
         {OrderModel::ring, OrderModel::halving_doubling, OrderModel::dbtree, OrderModel::bcube}) {
      for (const std::size_t n : {2U, 4U, 8U, 13U, 16U, 64U}) {
        CostModelRequest request = request_of(model, form, n, smallest_bcube_base(n));
        for (const auto objective :
             {OrderObjective::sum, OrderObjective::max, OrderObjective::load}) {
          request.objective = objective;
          if (!unsuited_for_model(request).empty()) continue;
          CAPTURE(static_cast<int>(model), static_cast<int>(form), n);
          check_changes(make_cost_model(request), random_costs(n, n), 5 * n);
        }
      }
    }
  }
}

TEST_CASE("A ring's segments are priced before they are moved") {
  for (const auto objective : {OrderObjective::sum, OrderObjective::max}) {
    for (const std::size_t n : {4U, 5U, 9U, 24U}) {
      CostModelRequest request = request_of(OrderModel::ring, OrderForm::generated, n);
      request.objective = objective;
      const CostModel model = make_cost_model(request);
      const CostMatrix costs = random_costs(n, n);
      RingCost ring(model, costs);
      ring.reset(random_permutation(n, 3));
      RandomSource random(n);
      for (int move = 0; move < 500; ++move) {
        const auto a = random.below(static_cast<std::uint32_t>(n));
        const auto b = random.below(static_cast<std::uint32_t>(n));
        const std::size_t first = std::min(a, b);
        const std::size_t last = std::max(a, b);
        CAPTURE(n, first, last, move);
        if (move % 2 == 0) {
          const double priced = ring.guide_of_reversal(first, last);
          ring.reverse(first, last);
          REQUIRE(ring.guide() == priced);
        } else if (last - first + 1 < n) {
          const std::size_t behind =
              (last + 1 + random.below(static_cast<std::uint32_t>(n - (last - first + 1)))) % n;
          const double priced = ring.guide_of_shift(first, last, behind);
          ring.shift(first, last, behind);
          REQUIRE(ring.guide() == priced);
        }
        REQUIRE(ring.cost() == full_cost(model, costs, ring.order()));
      }
    }
  }
}
