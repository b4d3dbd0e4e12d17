#include "alg/bounds/bounds.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "dimension_cases.h"

using namespace espalier;

namespace {

constexpr double kHop = 700e-9;

DimensionSpec dimension(DimensionShape shape, std::uint32_t size, std::uint32_t links,
                        std::uint64_t gb_per_second) {
  return {shape, size, links, {700'000, gb_per_second * 1'000'000'000}};
}

DimensionPlan plan_for(const DimensionedShape& shape, CollectiveOp op,
                       DimensionAlgorithm algorithm = DimensionAlgorithm::direct) {
  std::vector<PlannedDimension> dimensions;
  for (const DimensionSpec& d : shape.dimensions) {
    dimensions.push_back({d.size, algorithm, d.bytes_per_second(), 0});
  }
  PlanRequest request;
  request.op = op;
  request.size = 1'024'000'000;
  return plan_baseline(dimensions, request);
}

CollectiveBound bound_of(const DimensionedShape& shape, const DimensionPlan& plan) {
  return dimension_bound(make_dimensions(shape.dimensions), plan);
}

// Without switches: every NPU linked to the others of its group, in a ring or all of them.
Topology graph_of(const DimensionedShape& shape) {
  Topology topology("dimensions");
  std::uint32_t nodes = 1;
  for (const DimensionSpec& d : shape.dimensions) nodes *= d.size;
  for (std::uint32_t n = 0; n < nodes; ++n) topology.add_node(fmt::format("n{}", n));
  std::uint32_t stride = 1;
  for (const DimensionSpec& d : shape.dimensions) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const std::uint32_t x = n / stride % d.size;
      for (std::uint32_t hop = 1; hop < d.size; ++hop) {
        if (d.shape == DimensionShape::ring && hop != 1 && hop != d.size - 1) continue;
        const std::uint32_t to = n + ((x + hop) % d.size - x) * stride;
        const bool both_ways = d.shape == DimensionShape::ring && d.size == 2;
        for (int i = 0; i < (both_ways ? 2 : 1); ++i) test::add_one_way(topology, n, to, d.link);
      }
    }
    stride *= d.size;
  }
  return topology;
}

}  // namespace

TEST_CASE("The bound of one dimension is that of its links, and the latency of the last one") {
  const DimensionedShape shape{{dimension(DimensionShape::ring, 8, 2, 50)}};
  const double once = 7.0 / 8 * 1.024e9 / 100e9;
  const auto bound = [&](CollectiveOp op) { return bound_of(shape, plan_for(shape, op)); };
  CHECK(bound(CollectiveOp::all_reduce).seconds == Approx(2 * once + kHop).epsilon(1e-12));
  CHECK(bound(CollectiveOp::reduce_scatter).seconds == Approx(once + kHop).epsilon(1e-12));
  const CollectiveBound gather = bound(CollectiveOp::all_gather);
  CHECK(gather.seconds == Approx(once + kHop).epsilon(1e-12));
  CHECK(gather.bandwidth_seconds == Approx(once).epsilon(1e-12));
  CHECK(gather.binding == "8 parts with 100 GB/s per NPU of dim1 between them");
}

TEST_CASE("A dimension that is too slow for its share binds alone") {
  DimensionedShape shape{{dimension(DimensionShape::fully_connected, 4, 3, 100),
                          dimension(DimensionShape::switched, 4, 1, 100)}};
  const auto bound = [&] { return bound_of(shape, plan_for(shape, CollectiveOp::all_reduce)); };
  // Balanced: 15/16 at 400 GB/s against 3/16 at 100 (and at 300). A message over a switch is of use
  // two latencies before the end.
  CHECK(bound().seconds ==
        Approx((2 * 15.0 / 16 * 1.024e9 + 300e9 * kHop + 100e9 * 2 * kHop) / 400e9).epsilon(1e-12));
  CHECK(bound().binding == "16 parts with 400 GB/s per NPU of dim1+dim2 between them");
  shape.dimensions[1].link.bytes_per_second = 10'000'000'000;
  CHECK(bound().seconds == Approx(2 * 3.0 / 16 * 1.024e9 / 10e9 + 2 * kHop).epsilon(1e-12));
  CHECK(bound().binding == "4 parts with 10 GB/s per NPU of dim2 between them");
}

TEST_CASE("The ideal time is not a bound if a dimension is too slow for its share") {
  const DimensionedShape shape{{dimension(DimensionShape::switched, 4, 1, 100),
                                dimension(DimensionShape::switched, 4, 1, 10)}};
  const DimensionPlan plan = plan_for(shape, CollectiveOp::all_reduce);
  CHECK(bound_of(shape, plan).seconds > ideal_seconds(plan));
}

TEST_CASE("A switch that adds and copies lowers the bound of an all-reduce only") {
  const DimensionedShape shape{{dimension(DimensionShape::switched, 8, 1, 100)}};
  const auto bound = [&](CollectiveOp op, DimensionAlgorithm algorithm) {
    return bound_of(shape, plan_for(shape, op, algorithm));
  };
  constexpr auto kOffload = DimensionAlgorithm::in_network;
  constexpr auto kPlain = DimensionAlgorithm::halving_doubling;
  const CollectiveBound offloaded = bound(CollectiveOp::all_reduce, kOffload);
  const CollectiveBound plain = bound(CollectiveOp::all_reduce, kPlain);
  CHECK(offloaded.seconds == Approx(1.024e9 / 100e9 + 2 * kHop).epsilon(1e-12));
  CHECK(offloaded.schedules == ScheduleClass::in_network_switches);
  CHECK(plain.seconds == Approx(1.75 * 1.024e9 / 100e9 + 2 * kHop).epsilon(1e-12));
  CHECK(plain.schedules == ScheduleClass::any);
  for (const auto op : {CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    CHECK(bound(op, kOffload).seconds == bound(op, kPlain).seconds);
  }
}

TEST_CASE("Small collectives are bound by the distance across all dimensions") {
  const DimensionedShape shape{{dimension(DimensionShape::ring, 5, 2, 100),
                                dimension(DimensionShape::fully_connected, 3, 2, 100),
                                dimension(DimensionShape::switched, 4, 1, 100)}};
  DimensionPlan plan = plan_for(shape, CollectiveOp::all_reduce);
  plan.size = 4;
  const CollectiveBound bound = bound_of(shape, plan);
  CHECK(bound.seconds >= (2 + 1 + 2) * kHop);
  CHECK(bound.seconds == Approx((2 + 1 + 2) * kHop));
  CHECK(bound.binding == "r_0_0_0: 5 links in, 500 GB/s, and 3500 ns from r_2_1_1");
  plan.size = 0;
  CHECK(bound_of(shape, plan).seconds == 0);
  CHECK(bound_of(shape, plan).binding == "nothing to send");
}

TEST_CASE("The closed form is what the search over all cuts of the graph finds") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    DimensionedShape shape;
    std::size_t nodes = 1;
    const std::size_t count = 1 + test::pick(random, 3);
    for (std::size_t d = 0; d < count; ++d) {
      const auto size = static_cast<std::uint32_t>(2 + test::pick(random, 3));
      const bool ring = test::pick(random, 2) == 0;
      shape.dimensions.push_back(
          dimension(ring ? DimensionShape::ring : DimensionShape::fully_connected, size,
                    ring ? 2 : size - 1, 1 + test::pick(random, 100)));
      nodes *= size;
    }
    const Topology topology = graph_of(shape);
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
      const DimensionPlan plan = plan_for(shape, op);
      const CollectiveBound searched = collective_bound(topology, op, plan.size);
      const CollectiveBound closed = bound_of(shape, plan);
      CAPTURE(seed, nodes, to_string(op), closed.binding, searched.binding);
      CHECK(closed.bandwidth_seconds == Approx(searched.bandwidth_seconds));
      // The graph's cuts also count the way on from the cut, to one node of an all_gather.
      if (op == CollectiveOp::all_reduce) {
        CHECK(closed.seconds == Approx(searched.seconds).epsilon(1e-9));
      } else {
        CHECK(closed.seconds < searched.seconds * (1 + 1e-9));
        CHECK(closed.seconds > closed.bandwidth_seconds + kHop * (1 - 1e-9));
      }
    }
  }
}
