#include "alg/plans/dimension_routes.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "alg/plans/dimension_stage.h"
#include "test_graphs.h"

namespace espalier {
namespace {

using test::pick;
using Shape = DimensionShape;

constexpr LinkSpec kRouteLink{100'000, 25'000'000'000, 25};

// A dimension and what runs on it.
struct Case {
  DimensionSpec spec;
  DimensionAlgorithm algorithm;
};

Case ring(std::uint32_t size, std::uint32_t links = 2) {
  return {{Shape::ring, size, links, kRouteLink}, DimensionAlgorithm::ring};
}
Case fully_connected(std::uint32_t size, std::uint32_t parallel = 1) {
  return {{Shape::fully_connected, size, (size - 1) * parallel, kRouteLink},
          DimensionAlgorithm::direct};
}
Case switched(std::uint32_t size, std::uint32_t planes = 1,
              DimensionAlgorithm algorithm = DimensionAlgorithm::halving_doubling) {
  return {{Shape::switched, size, planes, kRouteLink}, algorithm};
}

struct System {
  explicit System(const std::vector<Case>& cases)
      : topology(make_dimensions(specs_of(cases))),
        planned(planned_of(cases)),
        routes(topology, planned) {}

  static std::vector<DimensionSpec> specs_of(const std::vector<Case>& cases) {
    std::vector<DimensionSpec> specs;
    for (const Case& c : cases) specs.push_back(c.spec);
    return specs;
  }
  static std::vector<PlannedDimension> planned_of(const std::vector<Case>& cases) {
    std::vector<PlannedDimension> planned;
    for (const Case& c : cases) {
      planned.push_back({c.spec.size, c.algorithm, c.spec.bytes_per_second(), 0});
    }
    return planned;
  }

  Topology topology;
  std::vector<PlannedDimension> planned;
  DimensionRoutes routes;
};

// Every bundle that a stage of this dimension asks for, at every node: from there to the peer, over
// each of its dimension's parallel links once. Collects the routes.
void check_dimension(const System& system, std::size_t d, std::set<RouteId>& seen) {
  const DimensionedShape& shape = *system.topology.dimensions();
  const DimensionSpec& spec = shape.dimensions[d];
  const StageSteps steps(system.planned[d].algorithm, spec.size);
  const RouteSet& routes = system.routes.routes();
  for (std::size_t n = 0; n < system.topology.num_nodes(); ++n) {
    const NodeId node(n);
    const std::uint32_t self = shape.coordinate(node, d);
    for (const StageKind kind : {StageKind::reduce_scatter, StageKind::all_gather}) {
      for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
        for (std::uint32_t step = 0; step < steps.steps(); ++step) {
          for (std::uint32_t i = 0; i < steps.num_sends(kind, step); ++i) {
            const std::uint32_t peer = steps.send(kind, self, lane, step, i).peer;
            const RouteBundle& bundle = system.routes.bundle(node, d, lane, peer);
            CHECK(bundle.count == spec.parallel_links());
            std::set<LinkId> first_links;
            for (std::uint32_t s = 0; s < bundle.count; ++s) {
              const RouteId route(bundle.first.index() + s);
              seen.insert(route);
              const std::size_t hops = routes.hops(route);
              CHECK(hops == (spec.shape == Shape::switched ? 2 : 1));
              const TopologyLink& first = system.topology.link(routes.link(route, 0));
              const TopologyLink& last = system.topology.link(routes.link(route, hops - 1));
              CHECK(first.from == node);
              CHECK(shape.dimension_of_port(first.out_port) == d);
              CHECK(last.to == shape.peer(node, d, peer));
              CHECK(shape.dimension_of_port(last.in_port) == d);
              if (hops == 2) CHECK(first.to == last.from);
              first_links.insert(routes.link(route, 0));
            }
            CHECK(first_links.size() == spec.parallel_links());
          }
        }
      }
    }
  }
}

void check_system(const std::vector<Case>& cases) {
  const System system(cases);
  CAPTURE(system.topology.name());
  std::set<RouteId> seen;
  for (std::size_t d = 0; d < cases.size(); ++d) check_dimension(system, d, seen);
  const std::vector<RouteId> used = system.routes.used();
  CHECK(std::vector<RouteId>(seen.begin(), seen.end()) == used);
}

TEST_CASE("A bundle leads to its peer within the dimension, over all parallel links at once") {
  check_system({ring(4)});
  check_system({ring(2)});  // both neighbours are the same node
  check_system({ring(2, 8), ring(3, 4)});
  check_system({fully_connected(5)});
  check_system({fully_connected(3, 4), ring(4, 6)});
  check_system({switched(8)});
  check_system({switched(4, 3), switched(2, 2)});
  check_system({switched(3, 2, DimensionAlgorithm::direct), fully_connected(2), ring(5)});
}

TEST_CASE("The two lanes of a ring of two take the links of the two directions") {
  const System system({ring(2, 4)});
  const RouteBundle& there = system.routes.bundle(NodeId(0), 0, 0, 1);
  const RouteBundle& back = system.routes.bundle(NodeId(0), 0, 1, 1);
  CHECK(there.count == 2);
  CHECK(back.count == 2);
  CHECK(back.first.index() >= there.first.index() + 2);
}

TEST_CASE("Halving-doubling uses no routes but those to its partners") {
  const System partners({switched(8)});
  CHECK(partners.routes.used().size() == 8 * 3);
  const System all({switched(8, 1, DimensionAlgorithm::direct)});
  CHECK(all.routes.used().size() == 8 * 7);
}

TEST_CASE("A ring algorithm is refused on a dimension that is not a ring") {
  CHECK_THROWS_AS(System({switched(4, 1, DimensionAlgorithm::ring)}), std::invalid_argument);
}

Case random_case(std::mt19937& random) {
  const auto size = static_cast<std::uint32_t>(2 + pick(random, 4));
  const auto parallel = static_cast<std::uint32_t>(1 + pick(random, 3));
  switch (pick(random, 3)) {
    case 0:
      return ring(size, 2 * parallel);
    case 1:
      return fully_connected(size, parallel);
    default:
      break;
  }
  const bool halves = suits(DimensionAlgorithm::halving_doubling, size) && pick(random, 2) == 0;
  return switched(size, parallel,
                  halves ? DimensionAlgorithm::halving_doubling : DimensionAlgorithm::direct);
}

TEST_CASE("Random systems: bundles lead where they should, and what is used is complete") {
  constexpr std::uint32_t kSeed = 20'241;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    std::vector<Case> cases;
    for (std::size_t d = 1 + pick(random, 3); d > 0; --d) cases.push_back(random_case(random));
    check_system(cases);
  }
}

}  // namespace
}  // namespace espalier
