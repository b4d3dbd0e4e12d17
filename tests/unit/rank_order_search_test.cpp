// Searches for rank orders: optimal where that is known, within their bounds, the same every time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/order_search.h"
#include "rank_order_cases.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

constexpr Bytes kSearchBytes = 4096;
constexpr Bytes kSearchWindow = 1024;

CostMatrix tcp_costs(std::size_t nodes, const test::Latencies& latencies) {
  return CostMatrix(nodes, latencies, kSearchWindow, kSearchBytes);
}

CostModelRequest request_of(OrderModel model, std::size_t ranks, OrderObjective objective,
                            OrderForm form) {
  CostModelRequest request;
  request.model = model;
  request.form = form;
  request.objective = objective;
  request.ranks = ranks;
  request.size = kSearchBytes;
  request.base = smallest_bcube_base(ranks);
  return request;
}

CostModel model_of(OrderModel model, std::size_t ranks,
                   OrderObjective objective = OrderObjective::sum,
                   OrderForm form = OrderForm::generated) {
  return make_cost_model(request_of(model, ranks, objective, form));
}

bool suits(OrderModel model, std::size_t ranks, OrderObjective objective, OrderForm form) {
  return unsuited_for_model(request_of(model, ranks, objective, form)).empty();
}

bool is_order(RankOrder order, std::size_t nodes) {
  std::sort(order.begin(), order.end());
  return order == identity_permutation(nodes);
}

OrderSearchSpec short_search(std::uint64_t evaluations, std::uint64_t seed) {
  OrderSearchSpec spec;
  spec.evaluations = evaluations;
  spec.seed = seed;
  return spec;
}

constexpr auto kObjectives = {OrderObjective::sum, OrderObjective::max, OrderObjective::load};

constexpr auto kModels = {OrderModel::ring, OrderModel::halving_doubling, OrderModel::dbtree,
                          OrderModel::bcube};

}  // namespace

TEST_CASE("A proven optimum equals that of trying all orders") {
  for (const OrderModel kind : kModels) {
    for (const OrderForm form :
         {OrderForm::generated, OrderForm::corrected, OrderForm::as_printed}) {
      for (const auto objective : kObjectives) {
        for (std::size_t n = 2; n <= (kind == OrderModel::ring ? 8 : 7); ++n) {
          if (!suits(kind, n, objective, form)) continue;
          const CostModel model = model_of(kind, n, objective, form);
          const auto hierarchical = test::hierarchical_latencies(n, 2, 2, n);
          for (const CostMatrix& costs :
               {tcp_costs(n, test::random_latencies(n, n)), tcp_costs(n, hierarchical)}) {
            RankOrder order = identity_permutation(n);
            Cost least = full_cost(model, costs, order);
            Cost most = least;
            do {
              const Cost cost = full_cost(model, costs, order);
              least = std::min(least, cost);
              most = std::max(most, cost);
            } while (std::next_permutation(order.begin(), order.end()));
            CAPTURE(static_cast<int>(kind), static_cast<int>(form), static_cast<int>(objective), n);
            for (const auto direction : {OrderDirection::best, OrderDirection::worst}) {
              const auto exact = exact_order(model, costs, direction);
              REQUIRE(exact);
              REQUIRE(is_order(exact->order, n));
              CHECK(full_cost(model, costs, exact->order) == exact->cost);
              CHECK(exact->cost == (direction == OrderDirection::best ? least : most));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("The best order of 12 ranks is proven with every model, and no search undercuts it") {
  test::ShareOfCases share(3);
  for (const OrderModel kind : kModels) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      if (!share.take()) continue;
      const CostModel model = model_of(kind, 12);
      for (const auto& latencies :
           {test::random_latencies(12, seed), test::hierarchical_latencies(12, 3, 2, seed)}) {
        const CostMatrix costs = tcp_costs(12, latencies);
        CAPTURE(static_cast<int>(kind), seed);
        const auto exact = exact_order(model, costs, OrderDirection::best);
        REQUIRE(exact);
        CHECK(order_bound(model, costs) <= exact->cost);
        CHECK(search_order(model, costs, short_search(20'000, seed)).cost >= exact->cost);
      }
    }
  }
}

TEST_CASE("An order better than the known one is found") {
  const CostMatrix costs = tcp_costs(8, test::random_latencies(8, 3));
  for (const OrderModel kind : kModels) {
    const CostModel model = model_of(kind, 8, OrderObjective::load);
    const auto exact = exact_order(model, costs, OrderDirection::best);
    const auto worst = exact_order(model, costs, OrderDirection::worst);
    REQUIRE((exact && worst));
    const auto from_worst = exact_order(model, costs, OrderDirection::best, *worst);
    REQUIRE(from_worst);
    CHECK(from_worst->cost == exact->cost);
    CHECK(full_cost(model, costs, from_worst->order) == from_worst->cost);
  }
}

TEST_CASE("A search finds the proven optimum for up to 12 ranks of a ring") {
  test::ShareOfCases share(17);
  for (std::size_t n = 4; n <= 12; n += 2) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      for (const auto objective : {OrderObjective::sum, OrderObjective::max}) {
        for (const auto direction : {OrderDirection::best, OrderDirection::worst}) {
          if (!share.take()) continue;
          CAPTURE(n, seed, static_cast<int>(objective), static_cast<int>(direction));
          const CostMatrix costs = tcp_costs(n, test::random_latencies(n, 31 * n + seed));
          const CostModel model = model_of(OrderModel::ring, n, objective);
          const auto exact = exact_order(model, costs, direction);
          REQUIRE(exact);
          OrderSearchSpec spec = short_search(200'000, seed);
          spec.objective = objective;
          spec.direction = direction;
          const FoundOrder found = search_order(model, costs, spec);
          REQUIRE(is_order(found.order, n));
          CHECK(found.cost == exact->cost);
          CHECK(found.cost == full_cost(model, costs, found.order));
        }
      }
    }
  }
}

TEST_CASE("A search finds the proven optimum for 8 ranks of every model") {
  for (const OrderModel kind : kModels) {
    for (const auto direction : {OrderDirection::best, OrderDirection::worst}) {
      CAPTURE(static_cast<int>(kind), static_cast<int>(direction));
      const CostMatrix costs = tcp_costs(8, test::random_latencies(8, 77));
      const CostModel model = model_of(kind, 8);
      const auto exact = exact_order(model, costs, direction);
      REQUIRE(exact);
      OrderSearchSpec spec = short_search(100'000, 3);
      spec.direction = direction;
      CHECK(search_order(model, costs, spec).cost == exact->cost);
    }
  }
}

TEST_CASE("No order is cheaper than the bound") {
  test::ShareOfCases share(6);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    if (!share.take()) continue;
    for (const OrderModel kind : kModels) {
      for (const OrderForm form :
           {OrderForm::generated, OrderForm::corrected, OrderForm::as_printed}) {
        for (const std::size_t n : {2U, 3U, 4U, 6U, 7U, 8U}) {
          for (const auto objective : kObjectives) {
            if (!suits(kind, n, objective, form)) continue;
            CAPTURE(static_cast<int>(kind), static_cast<int>(form), n, seed);
            const CostModel model = model_of(kind, n, objective, form);
            const auto hierarchical = test::hierarchical_latencies(n, 2, 2, seed);
            for (const CostMatrix& costs :
                 {tcp_costs(n, test::random_latencies(n, seed)), tcp_costs(n, hierarchical)}) {
              const auto exact = exact_order(model, costs, OrderDirection::best);
              REQUIRE(exact);
              CHECK(order_bound(model, costs) <= exact->cost);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Bounds of larger rings stay below the cost that a search finds") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const CostMatrix costs = tcp_costs(12, test::random_latencies(12, seed));
    for (const auto objective : {OrderObjective::sum, OrderObjective::max}) {
      const CostModel model = model_of(OrderModel::ring, 12, objective);
      const auto exact = exact_order(model, costs, OrderDirection::best);
      REQUIRE(exact);
      CHECK(order_bound(model, costs) <= exact->cost);
      CHECK(order_bound(model, costs) > 0);
    }
  }
}

TEST_CASE("The bound of nested clusters is the cost that rounds cannot avoid") {
  // Two racks of four: one round of three must leave the rack.
  test::Latencies latencies(64, 100);
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      if (i / 4 == j / 4) latencies[i * 8 + j] = i == j ? 0 : 10;
    }
  }
  const CostMatrix costs = tcp_costs(8, latencies);
  const CostModel model = model_of(OrderModel::halving_doubling, 8, OrderObjective::sum);
  const auto exact = exact_order(model, costs, OrderDirection::best);
  REQUIRE(exact);
  CHECK(order_bound(model, costs) == exact->cost);
}

TEST_CASE("The same seed finds the same order") {
  const CostMatrix costs = tcp_costs(24, test::random_latencies(24, 5));
  for (const OrderModel kind :
       {OrderModel::ring, OrderModel::halving_doubling, OrderModel::dbtree}) {
    const CostModel model = model_of(kind, 24);
    OrderSearchSpec spec = short_search(5'000, 9);
    spec.start = OrderStart::random;
    const FoundOrder once = search_order(model, costs, spec);
    CHECK(once.order == search_order(model, costs, spec).order);
    CHECK(once.evaluations == 5'000);
    spec.seed = 10;
    CHECK(once.order != search_order(model, costs, spec).order);
  }
}

TEST_CASE("A search with a budget of one order prices its start") {
  const CostMatrix costs = tcp_costs(9, test::random_latencies(9, 5));
  OrderSearchSpec spec = short_search(1, 1);
  spec.start = OrderStart::identity;
  const FoundOrder found = search_order(model_of(OrderModel::ring, 9), costs, spec);
  CHECK(found.order == identity_permutation(9));
  CHECK(found.evaluations == 1);
}

TEST_CASE("A clustered start keeps racks and pods together") {
  const CostMatrix costs = tcp_costs(64, test::hierarchical_latencies(64, 4, 4, 3));
  const RankOrder order = clustered_order(costs);
  REQUIRE(is_order(order, 64));
  std::size_t leaving_racks = 0;
  std::size_t leaving_pods = 0;
  for (std::size_t r = 0; r < 64; ++r) {
    const Cost hop = costs.cost(order[r], order[(r + 1) % 64], 0) / kSearchWindow;
    if (hop >= 4000) ++leaving_racks;
    if (hop >= 10000) ++leaving_pods;
  }
  CHECK(leaving_racks == 16);
  CHECK(leaving_pods == 4);
}

TEST_CASE("Folded ranks stand beside their partners") {
  // Racks of 6 of 48: 32 members, 16 of which have a partner that hands them all its data; the
  // other half of the members exchanges the largest messages with them. A pair and its single in
  // one rack, two of these threes with the next shorter distance between them:
  constexpr std::size_t kNodes = 48;
  test::Latencies latencies(kNodes * kNodes, 4000);
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t j = 0; j < kNodes; ++j) {
      if (i % 8 == j % 8) latencies[i * kNodes + j] = 1000;
    }
  }
  const CostMatrix costs = tcp_costs(kNodes, latencies);
  const CostModel model = model_of(OrderModel::halving_doubling, kNodes);
  RankOrder by_hand(kNodes);
  for (std::uint32_t low = 0; low < 8; ++low) {
    std::uint32_t node = low;
    for (std::uint32_t member = low; member < 32; member += 8) {
      for (const std::uint32_t rank : model.places[member]) {
        by_hand[rank] = node;
        node += 8;
      }
    }
  }
  REQUIRE(is_order(by_hand, kNodes));
  const Cost known = full_cost(model, costs, by_hand);
  CHECK(full_cost(model, costs, clustered_start(model, costs, OrderDirection::best)) <= known);
  CHECK(search_order(model, costs, short_search(20'000, 1)).cost <= known);
}

TEST_CASE("A found order is never worse than the identity") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const OrderModel kind : kModels) {
      const CostMatrix costs = tcp_costs(16, test::random_latencies(16, seed));
      const CostModel model = model_of(kind, 16);
      const Cost identity = full_cost(model, costs, identity_permutation(16));
      for (const auto start : {OrderStart::clustered, OrderStart::random}) {
        OrderSearchSpec spec = short_search(1, seed);
        spec.start = start;
        CHECK(search_order(model, costs, spec).cost <= identity);
        spec.direction = OrderDirection::worst;
        CHECK(search_order(model, costs, spec).cost >= identity);
      }
    }
  }
}

TEST_CASE("Random orders are permutations and differ from seed to seed") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CHECK(is_order(random_permutation(17, seed), 17));
    CHECK(random_permutation(17, seed) != random_permutation(17, seed + 1));
  }
  // Each of the six orders of three about as often.
  std::vector<std::size_t> count(27, 0);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    const RankOrder order = random_permutation(3, seed);
    ++count[9 * order[0] + 3 * order[1] + order[2]];
  }
  for (const std::size_t c : count) CHECK((c == 0 || (c > 850 && c < 1150)));
  CHECK(std::count_if(count.begin(), count.end(), [](std::size_t c) { return c != 0; }) == 6);
}

TEST_CASE("The annealing's random threshold is exponential") {
  double sum = 0;
  RandomSource random(4);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double draw = exponential(random.next());
    REQUIRE(draw >= 0);
    sum += draw;
  }
  CHECK(sum / kDraws == Approx(1.0).epsilon(0.1));
}
