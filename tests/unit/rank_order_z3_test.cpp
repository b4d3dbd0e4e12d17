// The optional SMT stage: exact where it is built in, refused by name where it is not.
#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/exact_order.h"
#include "alg/rank_order/z3_order.h"
#include "rank_order_cases.h"

using namespace espalier;

TEST_CASE("Z3 proves an optimum or finds a better order, or says that it is not built in") {
  int asked = 0;
  constexpr std::uint64_t kEnough = 100'000'000;
  for (const OrderModel kind :
       {OrderModel::ring, OrderModel::halving_doubling, OrderModel::dbtree, OrderModel::bcube,
        OrderModel::ring, OrderModel::halving_doubling, OrderModel::dbtree}) {
    CostModelRequest request;
    request.model = kind;
    request.objective = asked++ < 4 ? OrderObjective::sum : OrderObjective::load;
    request.ranks = 5;
    request.size = 1024;
    request.base = smallest_bcube_base(request.ranks);
    const CostModel model = make_cost_model(request);
    const CostMatrix costs =
        CostMatrix::from_latency(5, test::random_latencies(5, 5, 50), 1024, 1024);
    const auto exact = exact_order(model, costs, OrderDirection::best, 8);
    REQUIRE(exact);
    Z3Answer answer;
    try {
      answer = z3_better_order(model, costs, exact->cost, kEnough);
    } catch (const std::invalid_argument& refused) {
      CHECK(std::string(refused.what()).find("built without Z3") != std::string::npos);
      return;
    }
    CHECK(answer.verdict == Z3Verdict::optimal);
    const Z3Answer better = z3_better_order(model, costs, exact->cost + 1, kEnough);
    REQUIRE(better.verdict == Z3Verdict::better);
    CHECK(full_cost(model, costs, better.order) == exact->cost);
  }
}
