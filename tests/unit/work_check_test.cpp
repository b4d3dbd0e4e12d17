#include "sims/workload/graph/work_check.h"

#include <catch2/catch.hpp>
#include <ctime>

namespace espalier {

namespace {

WorkNode work_node(WorkKind kind, std::uint64_t id, Bytes bytes = 0, std::uint32_t group = 0) {
  WorkNode node;
  node.kind = kind;
  node.id = id;
  node.bytes = bytes;
  node.group = group;
  return node;
}

WorkGraph graph_of(std::uint32_t ranks) {
  WorkGraph graph;
  graph.names = {"n"};
  graph.groups.push_back({"0", {{}}});
  for (std::uint32_t r = 0; r < ranks; ++r) graph.groups[0].sets[0].push_back(r);
  return graph;
}

}  // namespace

TEST_CASE(
    "Collectives of a kind in chains are ordered, so that a chain turned round is a deadlock") {
  const auto mistakes = [](const std::vector<std::uint32_t>& second, bool is_chain) {
    WorkGraph graph = graph_of(2);
    graph.groups.push_back({"1", {{0, 1}}});
    for (const auto& groups : {std::vector<std::uint32_t>{0, 1, 0}, second}) {
      RankWork work;
      for (std::uint32_t i = 0; i < 3; ++i) {
        const bool waits = i > 0 && is_chain;
        work.add(work_node(WorkKind::collective, i, 8, groups[i]),
                 waits ? std::vector<std::uint32_t>{i - 1} : std::vector<std::uint32_t>{});
      }
      graph.ranks.push_back(std::make_shared<RankWork>(work));
    }
    return check_work(graph);
  };
  CHECK(mistakes({0, 1, 0}, true).empty());
  REQUIRE(mistakes({0, 0, 1}, true).size() == 1);
  CHECK(mistakes({0, 0, 1}, true)
            .front()
            .what.find("nodes wait for each other in a circle, where a collective waits for all "
                       "its ranks: ") == 0);
  CHECK(mistakes({0, 0, 1}, false).empty());  // the hosts may issue them in any order
}

TEST_CASE("Members of the sets of a shared group are matched set by set") {
  WorkGraph graph = graph_of(4);
  graph.groups.push_back({"pairs", {{0, 1}, {2, 3}}});
  RankWork work;
  work.add(work_node(WorkKind::collective, 1, 8, 1), {});
  const auto shared = std::make_shared<RankWork>(work);
  graph.ranks = {shared, shared, shared, shared};
  CHECK(check_work(graph).empty());
  graph.ranks[3] = std::make_shared<RankWork>();
  REQUIRE(check_work(graph).size() == 1);
  CHECK(check_work(graph).front().rank == 2);
  CHECK(check_work(graph).front().what ==
        "rank 2 posts 1 x all_reduce of 8 B in group pairs, first with node 1 (n) of rank 2, but "
        "rank 3 posts 0");
}

TEST_CASE("The nodes of a circle are named, and only they") {
  WorkGraph graph = graph_of(1);
  RankWork work;
  work.add(work_node(WorkKind::none, 10), {});
  work.add(work_node(WorkKind::none, 11), {0, 3});
  work.add(work_node(WorkKind::none, 12), {1});
  work.add(work_node(WorkKind::none, 13), {2});
  work.add(work_node(WorkKind::none, 14), {3});
  graph.ranks = {std::make_shared<RankWork>(work)};
  REQUIRE(check_work(graph).size() == 1);
  CHECK(check_work(graph).front().what ==
        "nodes wait for each other in a circle: node 11 (n) of rank 0 waits for node 13 (n) of "
        "rank 0, node 13 (n) of rank 0 waits for node 12 (n) of rank 0, node 12 (n) of rank 0 "
        "waits for node 11 (n) of rank 0");
}

TEST_CASE("Messages of one tag are counted and sized as a multiset") {
  const auto mistakes = [](const std::vector<Bytes>& sent, const std::vector<Bytes>& received) {
    WorkGraph graph = graph_of(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      RankWork work;
      for (const Bytes bytes : rank == 0 ? sent : received) {
        WorkNode node =
            work_node(rank == 0 ? WorkKind::send : WorkKind::receive, work.nodes.size(), bytes);
        node.peer = 1 - rank;
        work.add(node, {});
      }
      graph.ranks.push_back(std::make_shared<RankWork>(work));
    }
    return check_work(graph).size();
  };
  CHECK(mistakes({8, 16}, {16, 8}) == 0);
  CHECK(mistakes({8, 16}, {8}) == 1);
  CHECK(mistakes({8}, {8, 16}) == 1);
  CHECK(mistakes({8, 16}, {8, 17}) == 1);
}

TEST_CASE("A graph of 200 000 nodes is checked in less than a second") {
  constexpr std::uint32_t kRanks = 16;
  constexpr std::uint32_t kNodes = 12'500;
  WorkGraph graph = graph_of(kRanks);
  RankWork work;
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    const bool is_collective = n % 4 == 0;
    work.add(work_node(is_collective ? WorkKind::collective : WorkKind::none, n, 8 + n % 40),
             n == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{n - 1});
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    graph.ranks.push_back(std::make_shared<RankWork>(work));
  }
  const auto begin = std::clock();
  CHECK(check_work(graph).empty());
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 1);
}

}  // namespace espalier
