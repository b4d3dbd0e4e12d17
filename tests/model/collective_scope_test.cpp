// Collectives with one root, with unequal parts, and among some of the nodes: simulated in both
// fidelities, with their data compared at the end, and beside their bounds.
#include <catch2/catch.hpp>

#include <algorithm>

#include "alg/bounds/bounds.h"
#include "alg/generators/process_group.h"
#include "model_test_support.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/model/build_program.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

constexpr LinkSpec kScopeLink{150'000, 16'000'000'000};

RunPoint scoped_point(CollectiveOp op, const std::string& algorithm, Bytes size) {
  RunPoint point;
  point.collective.emplace();
  point.collective->op = op;
  point.collective->algorithm = algorithm;
  point.collective->size = size;
  return point;
}

// Rank r gets 1 / (r + 1) of what each rank sends, as with `counts: zipf`.
std::vector<std::uint64_t> zipf_weights(std::size_t ranks) {
  std::vector<std::uint64_t> weights;
  for (std::size_t pair = 0; pair < ranks * ranks; ++pair) {
    weights.push_back(pair / ranks == pair % ranks ? 0 : 1'000'000 / (pair % ranks + 1));
  }
  return weights;
}

double simulated_seconds(const Topology& topology, RunPoint point, Fidelity fidelity) {
  const ScheduleTables tables = generate_tables(topology, point.system, *point.collective);
  const Certificate certificate = certify_point(topology, point, tables);
  for (const Violation& violation : certificate.violations) UNSCOPED_INFO(violation.what);
  REQUIRE(certificate.ok());
  point.simulation.fidelity = fidelity;
  const SimulationOutcome outcome =
      test::outcome_of([&] { return simulate_collective(topology, point, tables, {}); });
  INFO(outcome.failure);
  REQUIRE(outcome.verified);
  return static_cast<double>(outcome.cycles) * 1e-9;
}

double scoped_share(const Topology& topology, const RunPoint& point) {
  const CollectiveRequest request = collective_request(point.system, *point.collective);
  const CollectiveBound bound =
      scoped_bound(topology, request.op, request.size, request.scope(topology.num_nodes()));
  return bound.seconds / simulated_seconds(topology, point, Fidelity::train);
}

// Three nodes on each of two switches; one node has a link of half the rate, the switches are
// joined by three links.
Topology two_switches() {
  Topology topology("two switches");
  for (int n = 0; n < 6; ++n) topology.add_node("n" + std::to_string(n));
  const NodeId s[2] = {topology.add_switch("s0"), topology.add_switch("s1")};
  int cables = 0;
  const auto cable = [&](NodeId a, NodeId b, std::uint64_t rate) {
    ++cables;
    topology.add_link(a, b, {150'000, rate}, "o" + std::to_string(cables),
                      "i" + std::to_string(cables));
    topology.add_link(b, a, {150'000, rate}, "p" + std::to_string(cables),
                      "j" + std::to_string(cables));
  };
  for (std::size_t n = 0; n < 6; ++n) {
    cable(NodeId(n), s[n / 3], n == 5 ? 8'000'000'000 : 16'000'000'000);
  }
  cable(s[0], s[1], 16'000'000'000);
  return topology;
}

}  // namespace

TEST_CASE("Broadcast and reduce come close to the least cut between root and node",
          "[performance]") {
  const std::vector<Topology> networks{make_mesh({4, 4}, kScopeLink),
                                       make_torus({3, 4}, kScopeLink), two_switches(),
                                       make_switch_pair(4, kScopeLink)};
  for (const Topology& topology : networks) {
    for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
      RunPoint point = scoped_point(op, "forest", 16 << 20);
      point.collective->root = 5;
      CAPTURE(topology.name(), to_string(op));
      CHECK(scoped_share(topology, point) >= 0.97);
    }
  }
}

TEST_CASE("Trees of one root are faster than a binomial tree, which passes the data log N times") {
  const Topology mesh = make_mesh({4, 4}, kScopeLink);
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    const double binomial =
        simulated_seconds(mesh, scoped_point(op, "binomial", 1 << 20), Fidelity::train);
    const double forest =
        simulated_seconds(mesh, scoped_point(op, "forest", 1 << 20), Fidelity::train);
    CHECK(binomial > 4 * forest);
  }
}

TEST_CASE("A chain of segments fills the links of a network that is too large for forest",
          "[slow]") {
  const Topology tree = make_fat_tree(8, 10, 4, kScopeLink);
  REQUIRE(find_generator("forest")->unsuited(tree) != "");
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    RunPoint point = scoped_point(op, "chain", 16 << 20);
    point.collective->root = 5;
    CAPTURE(to_string(op));
    CHECK(scoped_share(tree, point) >= 0.94);
    point.collective->algorithm = "binomial";
    CHECK(scoped_share(tree, point) < 0.25);
  }
}

TEST_CASE("Skewed counts of an all_to_allv are balanced over all links") {
  for (const Topology& topology : {make_mesh({3, 4}, kScopeLink), make_torus({4, 4}, kScopeLink)}) {
    RunPoint point = scoped_point(CollectiveOp::all_to_allv, "a2a_paths", 4 << 20);
    point.collective->counts.weights = zipf_weights(topology.num_nodes());
    CAPTURE(topology.name());
    const double paths = scoped_share(topology, point);
    point.collective->algorithm = "direct";
    const double direct = scoped_share(topology, point);
    CHECK(paths >= 0.95);
    CHECK(paths > direct);
  }
}

// All kinds of parts, in turn of an all_gatherv and a reduce_scatterv.
void check_parts(const Topology& topology, double least_share) {
  const std::size_t nodes = topology.num_nodes();
  std::vector<std::vector<std::uint64_t>> all(5, std::vector<std::uint64_t>(nodes, 0));
  for (std::size_t n = 0; n < nodes; ++n) {
    all[0][n] = n + 1;
    all[1][n] = n == nodes / 2 ? 1 : 0;
    all[2][n] = n % 2;
    all[3][n] = std::uint64_t{1} << n;
    all[4][n] = 1'000'000 / (n + 1);
  }
  test::ShareOfCases share(3);
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (!share.take()) continue;
    const bool gathers = w % 2 == 0;
    RunPoint point = scoped_point(
        gathers ? CollectiveOp::all_gatherv : CollectiveOp::reduce_scatterv, "forest", 32 << 20);
    point.collective->counts.weights = all[w];
    const CollectiveRequest request = collective_request(point.system, *point.collective);
    const CollectiveBound bound =
        collective_bound(topology, request.op, request.size, request.counts);
    CAPTURE(topology.name(), w, bound.binding);
    const double seconds = simulated_seconds(topology, point, Fidelity::train);
    CHECK(bound.seconds / seconds >= least_share);
    // No collective of equal parts, each as large as the largest one, is as fast.
    const Bytes largest = *std::max_element(request.counts.begin(), request.counts.end());
    const CollectiveOp equal = gathers ? CollectiveOp::all_gather : CollectiveOp::reduce_scatter;
    CHECK(collective_bound(topology, equal, nodes * largest).seconds > 1.4 * seconds);
  }
}

TEST_CASE("Parts of any sizes pass in the time of their bytes, not of as many largest parts") {
  check_parts(make_mesh({3, 3}, kScopeLink), 0.95);
}

TEST_CASE("Parts of any sizes come close to the bound through a switch, and less through several",
          "[performance]") {
  check_parts(make_torus({4, 4}, kScopeLink), 0.95);
  check_parts(make_single_switch(8, kScopeLink), 0.95);
  check_parts(two_switches(), 0.85);
}

TEST_CASE("Both fidelities compute collectives with a scope in the same time") {
  const std::vector<Topology> networks{make_mesh({3, 3}, kScopeLink), two_switches()};
  test::ShareOfCases share(5);
  for (const Topology& topology : networks) {
    for (const bool grouped : {false, true}) {
      const std::vector<std::uint32_t> ranks =
          grouped ? std::vector<std::uint32_t>{4, 0, 5} : std::vector<std::uint32_t>{};
      for (const Generator& generator : generators()) {
        if (!generator.unsuited(topology).empty()) continue;
        for (const CollectiveOp op : generator.ops) {
          if (!grouped && !is_rooted(op) && !has_counts(op)) continue;
          RunPoint point = scoped_point(op, generator.name, 6000);
          point.collective->ranks = ranks;
          point.collective->base = 3;
          point.collective->root = 2;
          const std::size_t group = grouped ? ranks.size() : topology.num_nodes();
          if (has_counts(op)) point.collective->counts.weights = zipf_weights(group);
          if (has_unequal_parts(op)) point.collective->counts.weights.resize(group);
          const Topology network = ranks_network(topology, *point.collective);
          if (!generator.unsuited(network).empty() ||
              (generator.problem != nullptr &&
               generator.problem(network, collective_request(point.system, *point.collective)))) {
            continue;
          }
          if (!share.take()) continue;
          CAPTURE(topology.name(), generator.name, to_string(op), grouped);
          point.collective->relay = generator.name == "forest";
          CHECK(simulated_seconds(topology, point, Fidelity::train) ==
                simulated_seconds(topology, point, Fidelity::cycle));
        }
      }
    }
  }
}

TEST_CASE("With relays a process group comes close to the bound of the network around it",
          "[performance]") {
  struct Group {
    Topology network;
    std::vector<std::uint32_t> ranks;
  };
  const std::vector<Group> groups{{make_mesh({4, 4}, kScopeLink), {0, 2, 4, 6, 8, 10, 12, 14}},
                                  {make_mesh({4, 4}, kScopeLink), {0, 3, 12, 15}},
                                  {make_torus({4, 4}, kScopeLink), {0, 1, 2, 3}},
                                  {make_torus({4, 4}, kScopeLink), {0, 5, 10, 15}},
                                  {make_torus({3, 3, 3}, kScopeLink), {1, 4, 9, 13, 22}},
                                  {make_fully_connected(8, kScopeLink), {0, 2, 5}}};
  for (const auto& [network, ranks] : groups) {
    for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
      RunPoint point = scoped_point(op, "forest", 16 << 20);
      point.collective->ranks = ranks;
      const double bound =
          collective_bound(ranks_network(network, *point.collective), op, 16 << 20).seconds;
      CAPTURE(network.name(), ranks, to_string(op));
      const double without = simulated_seconds(network, point, Fidelity::train);
      point.collective->relay = true;
      const double with = simulated_seconds(network, point, Fidelity::train);
      CHECK(bound / with >= 0.97);
      // Relays cannot help a group that its own links bring to the bound.
      CHECK(with < 1.01 * without);
      CHECK((ranks.size() != 8 || with < without || bound / with >= 0.995));
    }
  }
}

TEST_CASE("Small data of a group pass relays on low trees that share few links") {
  const auto share = [](const Topology& network, const std::vector<std::uint32_t>& ranks,
                        CollectiveOp op) {
    RunPoint point = scoped_point(op, "forest", 1 << 20);
    point.collective->ranks = ranks;
    point.collective->relay = true;
    const Topology group = ranks_network(network, *point.collective);
    return collective_bound(group, op, 1 << 20).seconds /
           simulated_seconds(network, point, Fidelity::train);
  };
  const Topology torus = make_torus({4, 4, 4}, kScopeLink);
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    CAPTURE(to_string(op));
    CHECK(share(torus, {0, 1}, op) >= 0.85);
    CHECK(share(make_fully_connected(8, kScopeLink), {0, 1, 2}, op) >= 0.85);
  }
}

TEST_CASE("An all_reduce of a group reduces and broadcasts over trees that relays join",
          "[performance]") {
  const auto share = [](const Topology& network, const std::vector<std::uint32_t>& ranks) {
    RunPoint point = scoped_point(CollectiveOp::all_reduce, "forest", 64 << 20);
    point.collective->ranks = ranks;
    point.collective->relay = true;
    Scope scope;
    scope.groups.emplace_back();
    for (const std::uint32_t rank : ranks) scope.groups.front().members.emplace_back(rank);
    return scoped_bound(network, CollectiveOp::all_reduce, 64 << 20, scope).seconds /
           simulated_seconds(network, point, Fidelity::train);
  };
  CHECK(share(make_fully_connected(8, kScopeLink), {0, 1, 2, 3}) >= 0.98);
  CHECK(share(make_mesh({4, 4}, kScopeLink), {0, 3, 12, 15}) >= 0.97);
  CHECK(share(make_torus({4, 4, 4}, kScopeLink), {0, 1, 2, 3}) >= 0.97);
  CHECK(share(make_torus({4, 4, 4}, kScopeLink), {0, 1, 4, 5, 16, 17, 20, 21}) >= 0.94);
}
