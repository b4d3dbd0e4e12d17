// Trees that grow in time: what arrives when, and over which links.
#include "alg/packing/tree_packing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "alg/packing/round_plan.h"
#include "alg/packing/switch_removal.h"
#include "test_graphs.h"

using namespace espalier;

namespace {

constexpr std::size_t kBoxNodes = 4;

// Two boxes of four nodes behind a switch each. Node 1 of a box has a slow one-way link to node 0
// of the other one, node 3 to node 2.
Topology two_boxes() {
  Topology boxes("two boxes");
  for (std::size_t n = 0; n < 2 * kBoxNodes; ++n) boxes.add_node("n" + std::to_string(n));
  for (std::size_t box = 0; box < 2; ++box) {
    const NodeId s = boxes.add_switch("s" + std::to_string(box));
    for (std::size_t n = box * kBoxNodes; n < (box + 1) * kBoxNodes; ++n) {
      test::add_cable(boxes, n, s.index(), {350'000, 16'000'000'000}, {350'000, 16'000'000'000});
    }
  }
  for (std::size_t from = 1; from < 2 * kBoxNodes; from += 2) {
    test::add_one_way(boxes, from, (from - 1 + kBoxNodes) % (2 * kBoxNodes),
                      {2'600'000, 2'000'000'000});
  }
  return boxes;
}

struct TimedCase {
  explicit TimedCase(bool reversed) : boxes(two_boxes()), order(boxes) {
    const PackGraph links = pack_graph(boxes, reversed);
    const std::vector<std::int64_t> many(links.edges.size(), 1 << 20);
    graph = join_pairs(boxes, links, many, reversed, order).graph;
  }
  Topology boxes;
  LinkOrder order;
  PackGraph graph;
};

constexpr std::uint32_t kPieces = 3;
constexpr Bytes kPieceBytes = 2000;

}  // namespace

TEST_CASE("Trees that grow in time send what has arrived, over links that are free") {
  const MessageTiming timing;
  for (const bool reversed : {false, true}) {
    for (const TimedOrder kind : {TimedOrder::busy, TimedOrder::balanced}) {
      CAPTURE(reversed, kind == TimedOrder::busy);
      const TimedCase network(reversed);
      const PackGraph& graph = network.graph;
      RouteSet routes(network.boxes);
      const MessageTimes times(network.boxes, routes, timing);
      const std::vector<TimedTree> trees =
          timed_out_trees(network.boxes, graph, kPieces, kPieceBytes, timing, kind, reversed);
      REQUIRE(trees.size() == kPieces * graph.nodes);
      std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> uses(
          network.boxes.num_links());
      for (std::size_t t = 0; t < trees.size(); ++t) {
        const PackedTree& tree = trees[t].tree;
        CHECK(tree.root == t / kPieces);
        REQUIRE(tree.edges.size() == graph.nodes - 1);
        // By node: the beginning and the end of the message that reaches it, away from the root.
        std::vector<std::uint64_t> begin(graph.nodes, 0);
        std::vector<std::uint64_t> end(graph.nodes, 0);
        std::vector<bool> has(graph.nodes, false);
        has[tree.root] = true;
        std::size_t crossings = 0;
        for (std::size_t i = 0; i < tree.edges.size(); ++i) {
          const PackEdge& edge = graph.edges[tree.edges[i]];
          REQUIRE(has[edge.from]);
          REQUIRE_FALSE(has[edge.to]);
          has[edge.to] = true;
          crossings += edge.from / kBoxNodes != edge.to / kBoxNodes ? 1 : 0;
          std::vector<LinkId> path = edge.path;
          if (reversed) std::reverse(path.begin(), path.end());
          RoundOp op;
          op.route = routes.add(network.boxes, path);
          op.kind = reversed ? TransferKind::reduce : TransferKind::copy;
          const std::uint64_t start = trees[t].start_ps[i];
          begin[edge.to] = start;
          end[edge.to] = start + times.arrival_ps(op, kPieceBytes);
          if (reversed && edge.from != tree.root) CHECK(end[edge.to] <= begin[edge.from]);
          if (!reversed) CHECK(start >= end[edge.from]);
          for (std::size_t h = 0; h < path.size(); ++h) {
            const std::uint64_t at = start + times.head_ps(op.route, h);
            uses[path[h].index()].emplace_back(at, at + times.occupancy_ps(path[h], kPieceBytes));
          }
        }
        CHECK(crossings == 1);
      }
      for (auto& of_link : uses) {
        std::sort(of_link.begin(), of_link.end());
        for (std::size_t i = 0; i + 1 < of_link.size(); ++i) {
          CHECK(of_link[i].second <= of_link[i + 1].first);
        }
      }
    }
  }
}

TEST_CASE("Slow links between boxes carry as many pieces each, if pieces wait for them") {
  const TimedCase network(false);
  const MessageTiming timing;
  const std::vector<TimedTree> trees = timed_out_trees(
      network.boxes, network.graph, kPieces, kPieceBytes, timing, TimedOrder::balanced, false);
  std::vector<std::size_t> carried(network.graph.nodes, 0);
  for (const TimedTree& tree : trees) {
    for (const std::uint32_t e : tree.tree.edges) {
      const PackEdge& edge = network.graph.edges[e];
      if (edge.path.size() == 1) ++carried[edge.from];
    }
  }
  CHECK(carried == std::vector<std::size_t>{0, 6, 0, 6, 0, 6, 0, 6});
}

TEST_CASE("There are no trees that grow in time if a node cannot be reached") {
  PackGraph graph;
  graph.nodes = graph.vertices = 2;
  const Topology pair = test::cables(2, {{0, 1}});
  graph.edges.push_back({0, 1, 16'000'000'000, {LinkId(0)}});
  const MessageTiming timing;
  CHECK(timed_out_trees(pair, graph, 1, kPieceBytes, timing, TimedOrder::busy, false).empty());
}
