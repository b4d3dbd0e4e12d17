// Hosts that execute a graph of work: what begins when, what meets what, and what a stuck rank
// says.
#include <catch2/catch.hpp>

#include "hw/hash.h"
#include "sims/workload/graph/work_path.h"
#include "tests/support/graph_machine.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::GraphBuilder;
using test::GraphMachine;

constexpr std::uint32_t kAll = 0;  // the group of all ranks
// The NI has a post two cycles after the end that made it ready.
constexpr Cycle kDecision = 2;

struct GraphRun {
  std::string problem;
  std::vector<Cycle> ends;                    // by rank
  std::vector<RankTimes> times;               // by rank
  std::vector<std::vector<NodeTimes>> nodes;  // by rank, and number in the work
  std::vector<GraphCollective> collectives;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, Cycle>> posts;
  Cycle exposed_sends = 0;
  std::vector<PathPart> path;
};

GraphRun run_graph(const WorkGraph& graph, IssueOrder issue = IssueOrder::lowest_id,
                   ClockSpec clock = {}, bool backwards = false, std::uint32_t chunks = 1) {
  GraphHosts hosts(graph, issue, clock, chunks, true);
  GraphMachine machine(graph, backwards);
  GraphRun run;
  run.problem = machine.run(hosts);
  run.times = hosts.rank_times();
  run.collectives = hosts.collectives();
  run.posts = machine.posts;
  run.exposed_sends = hosts.exposed_sends();
  if (run.problem.empty()) run.path = critical_path(graph, hosts);
  for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
    run.ends.push_back(run.times[r].end);
    run.nodes.emplace_back();
    for (std::uint32_t n = 0; n < graph.ranks[r]->nodes.size(); ++n) {
      run.nodes.back().push_back(hosts.node_times(RankId(r), n));
    }
  }
  return run;
}

// Computations ------------------------------------------------------------------------------------

TEST_CASE(
    "A rank computes one node at a time, of those that are ready the one with the lowest id") {
  GraphBuilder builder(1);
  const auto late = builder.compute(0, 4000, {}, 9);
  const auto early = builder.compute(0, 3000, {}, 2);
  for (const IssueOrder issue : {IssueOrder::lowest_id, IssueOrder::streams}) {
    const GraphRun run = run_graph(builder.build(), issue);
    CHECK(run.problem == "");
    CHECK(run.nodes[0][early].begin == 0);
    CHECK(run.nodes[0][early].end == 3000);
    CHECK(run.nodes[0][late].begin == 3000);
    CHECK(run.ends[0] == 7000);
  }
}

TEST_CASE("A host operator and a computation of one rank run at the same time") {
  GraphBuilder builder(1);
  builder.host(0, 50);
  builder.host(0, 60);
  builder.compute(0, 70);
  CHECK(run_graph(builder.build()).ends[0] == 110);
}

TEST_CASE("Each duration is rounded up to a clock edge") {
  GraphBuilder builder(1);
  const auto first = builder.compute(0, 1);
  builder.works[0].nodes[first].picoseconds = 1400;
  builder.works[0].nodes[builder.compute(0, 1, {first})].picoseconds = 1400;
  ClockSpec clock;
  clock.hertz = 2'000'000'000;  // 1.4 ns are 2.8 cycles
  CHECK(run_graph(builder.build(), IssueOrder::lowest_id, clock).ends[0] == 6);
}

TEST_CASE("A computation of no duration is 1 ns for lowest_id, and takes no time in streams") {
  GraphBuilder builder(1);
  const auto first = builder.compute(0, 0);
  builder.compute(0, 0, {first});
  CHECK(run_graph(builder.build()).ends[0] == 2);
  CHECK(run_graph(builder.build(), IssueOrder::streams).ends[0] == 0);
}

// Collectives -------------------------------------------------------------------------------------

TEST_CASE("A collective of all ranks begins with the last one and ends at each rank by itself") {
  GraphBuilder builder(3);
  for (std::uint32_t r = 0; r < 3; ++r) {
    builder.compute(r, 10, {builder.reduce(r, kAll, 500, {builder.compute(r, 100 * r + 1)})});
  }
  const GraphRun run = run_graph(builder.build());
  for (std::uint32_t r = 0; r < 3; ++r) CHECK(run.ends[r] == 201 + kDecision + 500 + r + 10);
}

TEST_CASE("A rank computes while its collective is under way") {
  GraphBuilder builder(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.reduce(r, kAll, 500);
    builder.compute(r, 400);
  }
  const GraphRun run = run_graph(builder.build());
  CHECK(run.ends[0] == kDecision + 500);
  CHECK(run.times[0].compute == 400);
  CHECK(run.times[0].exposed == kDecision + 500 - 400);
  CHECK(run.collectives[0].exposed == 2 * run.times[0].exposed + 1);
}

TEST_CASE("lowest_id runs one collective of a rank at a time, streams run all groups at once") {
  GraphBuilder builder(4);
  const auto rows = builder.group("rows", {{0, 1}, {2, 3}});
  const auto columns = builder.group("columns", {{0, 2}, {1, 3}});
  for (std::uint32_t r = 0; r < 4; ++r) {
    builder.reduce(r, rows, 500);
    builder.reduce(r, columns, 700);
  }
  const GraphRun one = run_graph(builder.build());
  const GraphRun all = run_graph(builder.build(), IssueOrder::streams);
  CHECK(one.problem == "");
  CHECK(one.ends[3] >= 500 + 700);
  CHECK(all.ends[0] == kDecision + 700);
  CHECK(all.collectives.size() == 4);
}

TEST_CASE("Of the communication that is ready, the lowest id goes first when the place is free") {
  GraphBuilder builder(2);
  std::vector<std::uint32_t> first;
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.reduce(r, kAll, 1000, {}, 1);  // holds the place
    builder.reduce(r, kAll, 300, {}, 9);   // ready first
    const auto compute = builder.compute(r, 10, {}, 2);
    first.push_back(builder.reduce(r, kAll, 200, {compute}, 3));  // ready later
  }
  const GraphRun run = run_graph(builder.build());
  REQUIRE(run.collectives.size() == 3);
  CHECK(run.collectives[1].what.bytes == 200);
  CHECK(run.collectives[2].what.bytes == 300);
}

TEST_CASE("Nodes that become ready in a walk wait for the next end") {
  // Node 2 takes no time, and makes 3 ready. Node 9 was ready before, and has the place.
  GraphBuilder builder(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    const auto none = builder.add(r, WorkNode{}, {}, 2);
    builder.reduce(r, kAll, 300, {none}, 3);
    builder.reduce(r, kAll, 500, {}, 9);
  }
  const GraphRun run = run_graph(builder.build());
  REQUIRE(run.collectives.size() == 2);
  CHECK(run.collectives[0].what.bytes == 500);
}

TEST_CASE("Nodes without time end at once and strand no rank") {
  GraphBuilder builder(2);
  const auto alone = builder.group("alone", {{0}, {1}});
  for (std::uint32_t r = 0; r < 2; ++r) {
    auto last = builder.none(r);
    for (int i = 0; i < 5; ++i) last = builder.none(r, {last});
    last = builder.reduce(r, alone, 4096, {last});
    last = builder.reduce(r, kAll, 0, {last});
    last = builder.compute(r, 7, {last});
    last = builder.none(r, {last});
    builder.reduce(r, alone, 4096, {last});
  }
  for (const IssueOrder issue : {IssueOrder::lowest_id, IssueOrder::streams}) {
    const GraphRun run = run_graph(builder.build(), issue);
    CHECK(run.problem == "");
    CHECK(run.ends == std::vector<Cycle>{7, 7});
    CHECK(run.collectives.empty());
  }
}

TEST_CASE("The k-th collective of a group at one rank meets the k-th at the others") {
  GraphBuilder builder(2);
  const auto group = builder.group("tp", {{1, 0}});
  for (std::uint32_t r = 0; r < 2; ++r) {
    auto last = builder.reduce(r, group, 100);
    last = builder.reduce(r, kAll, 200, {last});
    builder.reduce(r, group, 300, {last});
  }
  const GraphRun run = run_graph(builder.build());
  CHECK(run.problem == "");
  REQUIRE(run.collectives.size() == 3);
  CHECK(run.collectives[0].what.group == run.collectives[2].what.group);
  CHECK(run.collectives[2].index == 1);
}

TEST_CASE("A collective in chunks is over at a rank with its last chunk, and loses no byte") {
  GraphBuilder builder(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.compute(r, 5000, {builder.reduce(r, kAll, 301, {builder.reduce(r, kAll, 1)})});
  }
  const GraphRun whole = run_graph(builder.build());
  const GraphRun run = run_graph(builder.build(), IssueOrder::lowest_id, {}, false, 3);
  CHECK(run.problem == "");
  REQUIRE(run.collectives.size() == 2);
  CHECK(run.collectives[1].what.bytes == 301);
  CHECK(run.posts.size() == 2 * 2 * 3);
  // Of the first one, each chunk has a byte for each rank: 6 B, where the whole one has 1.
  for (std::size_t r = 0; r < 2; ++r) CHECK(run.ends[r] == whole.ends[r] + 5);
}

TEST_CASE("Collectives that meet and differ fail with both ranks and nodes") {
  GraphBuilder builder(2);
  builder.reduce(0, kAll, 100, {}, 7);
  WorkNode gather;
  gather.kind = WorkKind::collective;
  gather.op = CollectiveOp::all_gather;
  gather.bytes = 100;
  builder.add(1, gather, {}, 8);
  CHECK(run_graph(builder.build()).problem ==
        "collective 1 of group 0 is all_reduce of 100 B in node 7 (n7) of rank 0, and all_gather "
        "of 100 B in node 8 (n8) of rank 1; with workload.issue: lowest_id times decide the order, "
        "with streams the program");
  GraphBuilder sizes(2);
  sizes.reduce(0, kAll, 100);
  sizes.reduce(1, kAll, 104);
  CHECK_THAT(run_graph(sizes.build()).problem, Contains("104 B"));
}

TEST_CASE("A collective of a group in which the rank is not fails") {
  GraphBuilder builder(3);
  const auto group = builder.group("dp", {{0, 1}});
  builder.reduce(2, group, 100);
  CHECK(run_graph(builder.build()).problem ==
        "node 10 (n10) of rank 2 is a collective of group dp, in which the rank is not");
}

TEST_CASE("Ranks that share their work post to the set in which each of them is") {
  GraphBuilder builder(4);
  const auto pairs = builder.group("tp", {{0, 2}, {1, 3}});
  builder.compute(0, 10, {builder.reduce(0, pairs, 100, {builder.compute(0, 5)})});
  WorkGraph graph = builder.build();
  for (std::size_t r = 1; r < 4; ++r) graph.ranks[r] = graph.ranks[0];
  const GraphRun run = run_graph(graph);
  CHECK(run.problem == "");
  CHECK(run.collectives.size() == 2);
  CHECK(run.ends[3] == 5 + kDecision + 100 + 3 + 10);
}

// Messages ----------------------------------------------------------------------------------------

TEST_CASE("A send holds the place of communication until its message has arrived") {
  GraphBuilder builder(3);
  const auto to_1 = builder.send(0, 1, 1000);
  const auto to_2 = builder.send(0, 2, 1000);
  builder.receive(1, 0, 1000);
  builder.receive(2, 0, 1000);
  const GraphRun one = run_graph(builder.build());
  CHECK(one.nodes[0][to_1].end == kDecision + 1100);
  CHECK(one.nodes[0][to_2].begin == one.nodes[0][to_1].end);
  CHECK(one.ends[2] == 2 * (kDecision + 1100));
  CHECK(one.exposed_sends == one.ends[0]);
  const GraphRun streams = run_graph(builder.build(), IssueOrder::streams);
  CHECK(streams.nodes[0][to_2].begin == 0);
  CHECK(streams.ends[2] == kDecision + 1100);
}

TEST_CASE("A send is over when its message has arrived, whether its receive is posted or not") {
  GraphBuilder builder(2);
  builder.send(0, 1, 1000);
  builder.receive(1, 0, 1000, 0, {builder.compute(1, 5000)});
  const GraphRun run = run_graph(builder.build());
  CHECK(run.ends == std::vector<Cycle>{kDecision + 1100, 5000});
}

TEST_CASE("A receive needs no place, and ends when its message has arrived") {
  GraphBuilder builder(2);
  const auto receive = builder.receive(1, 0, 50);
  builder.send(1, 0, 60);
  builder.receive(0, 1, 60);
  builder.send(0, 1, 50, 0, {builder.compute(0, 1000)});
  const GraphRun run = run_graph(builder.build());
  CHECK(run.nodes[1][receive].begin == 0);
  CHECK(run.nodes[1][receive].end == 1000 + kDecision + 150);
  CHECK(run.nodes[1][1].end == kDecision + 160);
  CHECK(run.times[1].idle() == run.ends[1] - (kDecision + 160));
}

TEST_CASE("Messages meet receives of their tag in order, tags in any order") {
  GraphBuilder builder(2);
  auto last = builder.send(0, 1, 10, 5);
  last = builder.send(0, 1, 20, 6, {last});
  builder.send(0, 1, 30, 5, {last});
  builder.receive(1, 0, 20, 6);
  builder.receive(1, 0, 10, 5);
  builder.receive(1, 0, 30, 5, {builder.compute(1, 4000)});
  CHECK(run_graph(builder.build()).problem == "");
}

TEST_CASE("A message meets a receive of its tag and size, or fails by name") {
  GraphBuilder builder(2);
  builder.send(0, 1, 1000, 5);
  builder.receive(1, 0, 1001, 5);
  CHECK(run_graph(builder.build()).problem ==
        "rank 1 has no receive for the 1000 B of node 10 (n10) of rank 0");
  GraphBuilder crossed(2);
  const auto first = crossed.send(0, 1, 1000, 5);
  crossed.send(0, 1, 2000, 5, {first});
  const auto larger = crossed.receive(1, 0, 2000, 5);
  crossed.receive(1, 0, 1000, 5, {larger});
  CHECK(run_graph(crossed.build()).problem == "");
  GraphBuilder none(2);
  none.send(0, 1, 1000, 5);
  none.receive(1, 0, 1000, 6);
  CHECK(run_graph(none.build()).problem ==
        "rank 1 has no receive for the 1000 B of node 10 (n10) of rank 0");
}

// Stuck ranks -------------------------------------------------------------------------------------

TEST_CASE("Each rank that cannot finish says what it waits for") {
  SECTION("a message that nobody sends") {
    GraphBuilder builder(2);
    builder.receive(1, 0, 8);
    CHECK(run_graph(builder.build()).problem ==
          "host_1>host_0: node 10 (n10) of rank 1 waits for its message\n");
  }
  SECTION("nodes that wait for each other") {
    GraphBuilder builder(1);
    builder.compute(0, 5);
    builder.compute(0, 5, {2});
    builder.compute(0, 5, {1});
    CHECK(run_graph(builder.build()).problem ==
          "host_0>: node 20 (n20) of rank 0 waits for 1 nodes of its rank\n");
  }
  SECTION("collectives of two groups in different orders") {
    GraphBuilder builder(2);
    const auto a = builder.group("a", {{0, 1}});
    const auto b = builder.group("b", {{0, 1}});
    builder.reduce(0, a, 8, {}, 1);
    builder.reduce(0, b, 8, {}, 2);
    builder.reduce(1, b, 8, {}, 1);
    builder.reduce(1, a, 8, {}, 2);
    CHECK(run_graph(builder.build()).problem ==
          "host_0>host_1: node 1 (n1) of rank 0: rank 1 has not begun collective 1 of group a\n"
          "host_1>host_0: node 1 (n1) of rank 1: rank 0 has not begun collective 1 of group b\n");
    CHECK(run_graph(builder.build(), IssueOrder::streams).problem == "");
  }
}

TEST_CASE("A rank without work has finished") {
  GraphBuilder builder(2);
  builder.compute(1, 5);
  const GraphRun run = run_graph(builder.build());
  CHECK(run.problem == "");
  CHECK(run.ends == std::vector<Cycle>{0, 5});
  CHECK(run_graph(GraphBuilder(2).build()).path.empty());
}

// The critical path
// ---------------------------------------------------------------------------------

struct Part {
  std::uint32_t rank;
  std::uint32_t node;
  Cycle from;
  Cycle to;
  friend bool operator==(const Part& a, const Part& b) {
    return a.rank == b.rank && a.node == b.node && a.from == b.from && a.to == b.to;
  }
};

std::vector<Part> parts_of(const GraphRun& run) {
  std::vector<Part> parts;
  for (const PathPart& p : run.path) parts.push_back({p.rank.value(), p.node, p.from, p.to});
  return parts;
}

TEST_CASE("The critical path of a step leads through the last rank of a collective") {
  GraphBuilder builder(2);
  const auto before = builder.compute(1, 900);
  const auto reduce = builder.reduce(1, kAll, 300, {builder.none(1, {before})});
  builder.reduce(0, kAll, 300);
  const auto after = builder.compute(1, 50, {reduce});
  const GraphRun run = run_graph(builder.build());
  const Cycle over = 900 + kDecision + 300 + 1;
  CHECK(parts_of(run) == std::vector<Part>{{1, before, 0, 900},
                                           {1, reduce, 900, over},
                                           {1, after, over, over + 50}});
}

TEST_CASE("The critical path of a step leads from a late message to its sender") {
  GraphBuilder builder(2);
  const auto before = builder.compute(0, 900);
  const auto send = builder.send(0, 1, 1000, 0, {before});
  const auto after = builder.compute(1, 50, {builder.receive(1, 0, 1000)});
  const GraphRun run = run_graph(builder.build());
  const Cycle over = 900 + kDecision + 1100;
  CHECK(parts_of(run) ==
        std::vector<Part>{{0, before, 0, 900}, {0, send, 900, over}, {1, after, over, over + 50}});
}

TEST_CASE("The critical path of a step leads through the node that held the place") {
  GraphBuilder builder(1);
  builder.compute(0, 4000, {}, 9);
  builder.compute(0, 3000, {}, 2);
  CHECK(parts_of(run_graph(builder.build())) ==
        std::vector<Part>{{0, 1, 0, 3000}, {0, 0, 3000, 7000}});
}

// Random graphs -----------------------------------------------------------------------------------

// Ranks do the same work in layers: computations, two groups, and a message to the next rank.
GraphBuilder random_graph(std::uint64_t seed) {
  GraphBuilder builder(6);
  const auto pairs = builder.group("pairs", {{0, 1}, {2, 3}, {4, 5}});
  for (std::uint32_t r = 0; r < 6; ++r) {
    std::vector<std::uint32_t> nodes;
    for (std::uint64_t n = 0; n < 40; ++n) {
      const std::uint64_t draw = mix(seed, n);
      GraphBuilder::After after;
      if (n > 2) after.push_back(nodes[draw / 7 % n]);
      const auto tag = n;
      switch (draw % 5) {
        case 0:
          nodes.push_back(builder.compute(r, mix(draw, r) % 300, after));
          break;
        case 1:
          nodes.push_back(builder.reduce(
              r, kAll, 1 + draw % 900, nodes.empty() ? after : GraphBuilder::After{nodes.back()}));
          break;
        case 2:
          nodes.push_back(builder.reduce(
              r, pairs, 1 + draw % 500, nodes.empty() ? after : GraphBuilder::After{nodes.back()}));
          break;
        case 3:
          builder.receive(r, (r + 5) % 6, 1 + draw % 400, tag);
          nodes.push_back(builder.send(r, (r + 1) % 6, 1 + draw % 400, tag, after));
          break;
        default:
          nodes.push_back(builder.none(r, after));
      }
    }
  }
  return builder;
}

TEST_CASE("The order of events of one cycle does not matter") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    GraphBuilder builder = random_graph(seed);
    for (const IssueOrder issue : {IssueOrder::lowest_id, IssueOrder::streams}) {
      const GraphRun forwards = run_graph(builder.build(), issue);
      const GraphRun backwards = run_graph(builder.build(), issue, {}, true);
      CAPTURE(seed, static_cast<int>(issue), forwards.problem);
      CHECK(forwards.problem.empty() == backwards.problem.empty());
      if (forwards.problem.empty()) CHECK(forwards.ends == backwards.ends);
    }
  }
}

TEST_CASE("No node begins before all nodes that it waits for have ended") {
  std::size_t finished = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    GraphBuilder builder = random_graph(seed);
    for (const IssueOrder issue : {IssueOrder::lowest_id, IssueOrder::streams}) {
      const GraphRun run = run_graph(builder.build(), issue);
      if (!run.problem.empty()) continue;
      ++finished;
      // The path has no gaps, from the begin to the last end.
      Cycle reached = 0;
      for (const PathPart& part : run.path) {
        CHECK(part.from == reached);
        reached = part.to;
      }
      CHECK(reached == *std::max_element(run.ends.begin(), run.ends.end()));
      for (std::size_t r = 0; r < 6; ++r) {
        const RankWork& work = builder.works[r];
        for (std::uint32_t n = 0; n < work.nodes.size(); ++n) {
          const NodeTimes& times = run.nodes[r][n];
          for (std::uint32_t w = work.first_wait[n]; w < work.first_wait[n + 1]; ++w) {
            CHECK(run.nodes[r][work.waits[w]].end <= times.begin);
          }
          CHECK(times.begin <= times.end);
          CHECK(times.end <= run.ends[r]);
        }
      }
    }
  }
  CHECK(finished > 40);
}

TEST_CASE(
    "The name of work says its phase: in words, or as a tensor whose gradient begins with d") {
  CHECK(phase_of("mlp1 forward") == std::string("forward"));
  CHECK(phase_of("mlp1 gradient of weights") == std::string("backward"));
  CHECK(phase_of("embedding update") == std::string("optimizer"));
  CHECK(phase_of("mb0.transformer.1.ffn.x0@1_X1COMM") == std::string("forward"));
  CHECK(phase_of("mb0.transformer.1.ffn.dx0@1_X1COMM") == std::string("backward"));
  CHECK(phase_of("d@") == std::string("backward"));
  CHECK(phase_of("ncclKernel_AllReduce") == std::string());
}

}  // namespace
}  // namespace espalier
