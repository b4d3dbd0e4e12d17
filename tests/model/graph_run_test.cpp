// Graphs of work on the simulated network: closed forms of collectives that run at once, and what a
// result says of a step.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/point/config.h"
#include "sims/system/host_simulation.h"
#include "tests/support/graph_machine.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::GraphBuilder;

struct SimulatedGraph {
  bool verified = false;
  std::string failure;
  std::vector<Cycle> ends;  // by rank
  std::size_t plans = 0;    // schedules that were made and certified
};

SimulatedGraph simulate_graph(const Topology& topology, const WorkGraph& graph, IssueOrder issue,
                              std::uint32_t contexts, Fidelity fidelity = Fidelity::train) {
  RunPoint point;
  point.system = test::in_mode(FlowControlMode::message);
  point.system.ni.contexts = contexts;
  point.simulation.fidelity = fidelity;
  point.collective.emplace().algorithm = "ring";
  const test::Report report = test::in_child([&] {
    JobRanks ranks;
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) ranks.nodes.emplace_back(n);
    for (const WorkSet& set : sets_of(graph)) {
      const auto& of_set = graph.groups[set.group].sets[set.set];
      ranks.groups.emplace_back(of_set.begin(), of_set.end());
    }
    GraphHosts hosts(graph, issue, point.system.clock);
    std::size_t plans = 0;
    const HostedOutcome outcome =
        simulate_hosts(topology, point, ranks, hosts,
                       [&](const HostCollective& what) {
                         ++plans;
                         return certified_work(topology, point, ranks, what);
                       },
                       {});
    test::Numbers numbers{outcome.simulation.verified ? 1U : 0U, plans};
    for (const RankTimes& times : hosts.rank_times()) numbers.push_back(times.end);
    return test::Report{numbers, hosts.failure() + outcome.simulation.failure};
  });
  SimulatedGraph run;
  run.verified = report.numbers.front() != 0;
  run.failure = report.text;
  run.plans = report.numbers[1];
  run.ends.assign(report.numbers.begin() + 2, report.numbers.end());
  return run;
}

Cycle last(const SimulatedGraph& run) {
  return *std::max_element(run.ends.begin(), run.ends.end());
}

constexpr Bytes kLarge = 400'000;

TEST_CASE("Two all-reduces of a graph at once on one ring take the sum of their times") {
  const Topology ring = make_torus({8}, test::link_of(5));
  GraphBuilder one(8);
  GraphBuilder two(8);
  for (GraphBuilder* builder : {&one, &two}) {
    const auto a = builder->group("a", {{0, 1, 2, 3, 4, 5, 6, 7}});
    const auto b = builder->group("b", {{0, 1, 2, 3, 4, 5, 6, 7}});
    for (std::uint32_t r = 0; r < 8; ++r) {
      builder->reduce(r, a, kLarge);
      if (builder == &two) builder->reduce(r, b, kLarge);
    }
  }
  const Cycle alone = last(simulate_graph(ring, one.build(), IssueOrder::streams, 2));
  const SimulatedGraph at_once = simulate_graph(ring, two.build(), IssueOrder::streams, 2);
  const SimulatedGraph in_turn = simulate_graph(ring, two.build(), IssueOrder::lowest_id, 2);
  CHECK(at_once.failure == "");
  CHECK(at_once.verified);
  CHECK(last(at_once) == Approx(2 * alone).epsilon(0.01));
  CHECK(last(in_turn) == Approx(2 * alone).epsilon(0.001));
}

TEST_CASE("All-reduces of a graph among ranks of different rings take the time of the longest") {
  const Topology torus = make_torus({4, 2}, test::link_of(5));
  GraphBuilder builder(8);
  GraphBuilder longest(8);
  const auto rows = builder.group("rows", {{0, 1, 2, 3}, {4, 5, 6, 7}});
  longest.group("rows", {{0, 1, 2, 3}, {4, 5, 6, 7}});
  for (std::uint32_t r = 0; r < 8; ++r) {
    builder.reduce(r, rows, r < 4 ? kLarge : kLarge / 2);
    if (r < 4) longest.reduce(r, rows, kLarge);
  }
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    const SimulatedGraph both =
        simulate_graph(torus, builder.build(), IssueOrder::streams, 1, fidelity);
    CHECK(both.verified);
    CHECK(last(both) ==
          last(simulate_graph(torus, longest.build(), IssueOrder::streams, 1, fidelity)));
    CHECK(both.ends[4] < both.ends[0] * 6 / 10);
  }
}

// The first and the last row of a mesh each have other ports than the three rows between them.
TEST_CASE("Groups whose routes look alike take one plan and end as if each had its own") {
  const Topology mesh = make_mesh({4, 5}, test::link_of(5));
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t y = 0; y < 5; ++y) rows.push_back({4 * y, 4 * y + 2, 4 * y + 1, 4 * y + 3});
  const auto work_of = [&](std::uint32_t from, std::uint32_t to) {
    GraphBuilder builder(20);
    const auto group = builder.group("rows", rows);
    for (std::uint32_t r = 4 * from; r < 4 * to; ++r) builder.reduce(r, group, kLarge);
    return builder.build();
  };
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
    const SimulatedGraph all =
        simulate_graph(mesh, work_of(0, 5), IssueOrder::streams, 1, fidelity);
    CHECK(all.failure == "");
    CHECK(all.verified);
    CHECK(all.plans == 3);
    for (std::uint32_t y = 0; y < (test::kSanitized ? 2 : 5); ++y) {
      const SimulatedGraph alone =
          simulate_graph(mesh, work_of(y, y + 1), IssueOrder::streams, 1, fidelity);
      CHECK(alone.plans == 1);
      for (std::uint32_t r = 4 * y; r < 4 * y + 4; ++r) CHECK(all.ends[r] == alone.ends[r]);
    }
  }
}

TEST_CASE("A rank that cannot finish on the network fails with what it waits for") {
  const Topology line = make_mesh({2}, test::link_of(5));
  GraphBuilder builder(2);
  builder.receive(1, 0, 800, 3);
  builder.compute(0, 10);
  const SimulatedGraph run = simulate_graph(line, builder.build(), IssueOrder::lowest_id, 1);
  CHECK_FALSE(run.verified);
  CHECK_THAT(run.failure,
             Catch::Matchers::Contains("node 10 (n10) of rank 1 waits for its message"));
}

}  // namespace
}  // namespace espalier
